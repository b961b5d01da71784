/** What a host does with a finished model: see its score, evaluate it on other data, try it, export it. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { Answer } from '../../../../shared/messages/cards.ts'
import type { CommandOutput, JobResult } from '../../../../shared/messages/control.ts'
import { useAsk } from '../../ask.ts'
import { Card, Fault } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { Answers } from '../../parts/answers.tsx'
import { fileName, guessType, sourceOf } from '../../words/host-draft.ts'
import { scoresInWords } from '../../words/scores.ts'
import { count } from '../../words/numbers.ts'

function Evaluate({ model }: { readonly model: string }): JSX.Element {
  const asker = useAsk()
  const result = useSignal<CommandOutput<'evaluate'> | null>(null)
  const on = useSignal('')
  const evaluate = async (kind: 'data' | 'folder') => {
    const chosen = await asker.ask(() => window.rookery.chooseFile({ kind }))
    const path = chosen?.path
    if (path == null) return
    const data = sourceOf(kind === 'folder' ? 'images' : guessType(path), path)
    const answer = await asker.ask(() => window.rookery.evaluate({ model, data }))
    on.value = fileName(path)
    result.value = answer ?? null
  }
  return (
    <Card title="Evaluate">
      <p class="soft">How good is it on other data? Choose data of the same kind; all of it is used.</p>
      <div class="actions after">
        <Button busy={asker.busy.value} onPress={() => evaluate('data')}>
          Choose a file…
        </Button>
        <Button busy={asker.busy.value} onPress={() => evaluate('folder')}>
          Choose a folder of pictures…
        </Button>
      </div>
      <p class="after" role="status">
        {asker.busy.value
          ? 'Evaluating…'
          : result.value === null
            ? ''
            : `On ${count(result.value.samples)} samples of ${on.value}: ${scoresInWords(result.value.scores)}.`}
      </p>
      <Fault of={asker} />
    </Card>
  )
}

function Try({ model }: { readonly model: string }): JSX.Element {
  const asker = useAsk()
  const input = useSignal('')
  const answers = useSignal<readonly Answer[] | null>(null)
  const predict = async () => {
    const given = input.value
    answers.value = (await asker.ask(() => window.rookery.predict({ model, input: given }))) ?? null
  }
  return (
    <Card title="Try it">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void predict()
        }}
      >
        <div class="field">
          <label for="try-input">
            The beginning of a text, values with commas between, or the path of a file
          </label>
          <textarea
            class="input mono"
            id="try-input"
            rows={3}
            maxLength={100_000}
            value={input.value}
            onInput={(event) => {
              input.value = event.currentTarget.value
            }}
          />
        </div>
        <div class="actions">
          <button
            type="submit"
            class="btn primary"
            aria-busy={asker.busy.value ? 'true' : undefined}
            disabled={input.value === ''}
          >
            {asker.busy.value ? 'Asking the model…' : 'Ask the model'}
          </button>
        </div>
      </form>
      <Fault of={asker} />
      <div class="after" role="status">
        {answers.value === null ? null : <Answers answers={answers.value} />}
      </div>
    </Card>
  )
}

function Export({ model }: { readonly model: string }): JSX.Element {
  const asker = useAsk()
  const said = useSignal('')
  const copy = async () => {
    const chosen = await asker.ask(() => window.rookery.saveAs({ suggested: fileName(model) }))
    const to = chosen?.path
    if (to == null) return
    const done = await asker.ask(() => window.rookery.exportModel({ model, to }))
    said.value = done === undefined ? '' : `Saved in ${to}.`
  }
  return (
    <section class="card">
      <div class="row wrap">
        <div class="grow">
          <b>Model file</b>
          <div class="soft path">{model}</div>
        </div>
        <Button busy={asker.busy.value} onPress={copy}>
          Export…
        </Button>
      </div>
      <p role="status">{said.value}</p>
      <Fault of={asker} />
    </section>
  )
}

export function ModelTools({
  model,
  scores,
}: {
  readonly model: string
  readonly scores: JobResult['validation']
}): JSX.Element {
  return (
    <>
      {scores === null ? null : (
        <section class="card">
          <b>On the samples kept back</b>
          <div class="soft">{scoresInWords(scores)}</div>
        </section>
      )}
      <Export model={model} />
      <div class="cols even">
        <Try model={model} />
        <Evaluate model={model} />
      </div>
    </>
  )
}

/** A model of an earlier job, chosen from the disk. */
export function ModelOfYours(): JSX.Element {
  const asker = useAsk()
  const model = useSignal('')
  const choose = async () => {
    const chosen = await asker.ask(() => window.rookery.chooseFile({ kind: 'model' }))
    if (chosen?.path != null) model.value = chosen.path
  }
  return (
    <>
      <section class="card row wrap">
        <div class="grow">
          <b>A model that you have already</b>
          <div class="soft">Evaluate it, try it, export it.</div>
          <Fault of={asker} />
        </div>
        <Button busy={asker.busy.value} onPress={choose}>
          Choose a model…
        </Button>
      </section>
      {model.value === '' ? null : <ModelTools key={model.value} model={model.value} scores={null} />}
    </>
  )
}
