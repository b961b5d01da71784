/** Step 2: a model, with its parameters and the memory it needs. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ModelCard } from '../../../../shared/messages/cards.ts'
import { Card, Fault } from '../../parts/blocks.tsx'
import { readsText } from '../../words/host-draft.ts'
import { count, memory } from '../../words/numbers.ts'
import { draft, inspect, inspecting, loadModels, models, preview, takeModel } from './wizard-state.ts'

function fits(wantsTokens: boolean, readsTokens: boolean): string {
  if (wantsTokens === readsTokens) return ''
  return readsTokens ? 'reads text' : 'reads values or pictures'
}

function ModelRow({
  card,
  wantsTokens,
}: {
  readonly card: ModelCard
  readonly wantsTokens: boolean
}): JSX.Element {
  const unfit = fits(wantsTokens, readsText(card))
  return (
    <tr>
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
}

function ModelTable({ cards }: { readonly cards: readonly ModelCard[] }): JSX.Element {
  const wantsTokens = draft.value.source?.type === 'text'
  return (
    <table class="table">
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
        {cards.map((card) => (
          <ModelRow key={card.name} card={card} wantsTokens={wantsTokens} />
        ))}
      </tbody>
    </table>
  )
}

function fitWords(): string {
  if (inspecting.busy.value) return 'Checking that the data fits this model…'
  return preview.value === null
    ? ''
    : `Your ${count(preview.value.samples)} samples fit ${draft.value.model}.`
}

export function ModelStep(): JSX.Element {
  useEffect(() => void loadModels(), [])
  return (
    <>
      <Card
        title="Model"
        side={<span class="small">memory: to train it whole on one PC; a pool shares it</span>}
      >
        {models.value === null ? (
          <p class="soft">The agent is asked for its models.</p>
        ) : (
          <ModelTable cards={models.value} />
        )}
        <Fault of={inspecting} />
      </Card>
      <p class="soft" role="status">
        {fitWords()}
      </p>
    </>
  )
}
