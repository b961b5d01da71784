/** Step 2: a model, with its parameters and the memory it needs. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Card, Fault } from '../../parts/blocks.tsx'
import { readsText } from '../../words/host-draft.ts'
import { count, memory } from '../../words/numbers.ts'
import { draft, inspect, inspecting, loadModels, models, preview, takeModel } from './wizard-state.ts'

function fits(wantsTokens: boolean, readsTokens: boolean): string {
  if (wantsTokens === readsTokens) return ''
  return readsTokens ? 'reads text' : 'reads values or pictures'
}

export function ModelStep(): JSX.Element {
  useEffect(() => void loadModels(), [])
  const wantsTokens = draft.value.source?.type === 'text'
  const list = models.value
  return (
    <>
      <Card
        title="Model"
        side={<span class="small">memory: to train it whole on one PC; a pool shares it</span>}
      >
        {list === null ? (
          <p class="soft">The agent is asked for its models.</p>
        ) : (
          <table class="table" role="radiogroup" aria-label="Model">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Task</th>
                <th scope="col">Input</th>
                <th scope="col" class="n">
                  Parameters
                </th>
                <th scope="col" class="n">
                  Memory
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map((card) => {
                const unfit = fits(wantsTokens, readsText(card))
                return (
                  <tr key={card.name}>
                    <td>
                      <label class="check">
                        <input
                          type="radio"
                          name="model"
                          checked={draft.value.model === card.name}
                          disabled={unfit !== ''}
                          onChange={() => {
                            takeModel(card)
                            void inspect()
                          }}
                        />
                        {card.name}
                      </label>
                    </td>
                    <td class={unfit === '' ? undefined : 'faint'}>{unfit === '' ? card.task : unfit}</td>
                    <td>{card.input}</td>
                    <td class="n">{count(card.parameters)}</td>
                    <td class="n">{memory(card.memoryBytes)}</td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        )}
        <Fault of={inspecting} />
      </Card>
      <p class="soft" role="status">
        {inspecting.busy.value
          ? 'Checking that the data fits this model…'
          : preview.value === null
            ? ''
            : `Your ${count(preview.value.samples)} samples fit ${draft.value.model}.`}
      </p>
    </>
  )
}
