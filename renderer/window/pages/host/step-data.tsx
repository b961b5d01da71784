/** Step 1: pick data, see what the pool would see of it, errors named by row. */
import type { JSX } from 'preact'
import type { DataPreview } from '../../../../shared/messages/cards.ts'
import type { DataSource } from '../../../../shared/job/data.ts'
import { Banner, Card, Fault } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { fileName, guessType, pathOf, sourceOf } from '../../words/host-draft.ts'
import type { SourceType } from '../../words/host-draft.ts'
import { count } from '../../words/numbers.ts'
import { ModelOfYours } from './model-tools.tsx'
import {
  change,
  chooseData,
  draft,
  inspect,
  inspecting,
  preview,
  readAs,
  takeSource,
} from './wizard-state.ts'

const readings: readonly (readonly [SourceType, string])[] = [
  ['csv', 'a table, one sample a row (CSV)'],
  ['text', 'text'],
  ['images', 'a folder of pictures for each class'],
  ['idx', 'MNIST’s format (IDX)'],
  ['cifar10', 'CIFAR-10’s format'],
]
const isReading = (value: string): value is SourceType => readings.some(([type]) => type === value)

const chooseFile = () => chooseData('data', (path) => sourceOf(guessType(path), path))
const chooseFolder = () => chooseData('folder', (path) => sourceOf('images', path))

function Choose(): JSX.Element {
  return (
    <div class="cols even">
      <section class="card choice">
        <h2>A file</h2>
        <p class="soft">
          A table (CSV) with one sample a row, a text, or a file in MNIST’s or CIFAR-10’s format.
        </p>
        <Button kind="primary" busy={inspecting.busy.value} onPress={chooseFile}>
          Choose a file…
        </Button>
      </section>
      <section class="card choice">
        <h2>Pictures</h2>
        <p class="soft">A folder with one folder for each class, and PNG or JPEG files inside.</p>
        <Button busy={inspecting.busy.value} onPress={chooseFolder}>
          Choose a folder…
        </Button>
      </section>
    </div>
  )
}

/** A label column by name, or by index: -1 is the last. */
function labelOf(text: string): string | number {
  const trimmed = text.trim()
  if (trimmed === '') return -1
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed
}

function LabelColumn({ source }: { readonly source: Extract<DataSource, { type: 'csv' }> }): JSX.Element {
  return (
    <label class="check">
      Label column
      <input
        class="input column"
        value={source.label === -1 ? '' : String(source.label)}
        placeholder="the last"
        onChange={(event) => void takeSource({ ...source, label: labelOf(event.currentTarget.value) })}
      />
    </label>
  )
}

function Reading({ source }: { readonly source: DataSource }): JSX.Element {
  return (
    <div class="row wrap gap-wide">
      <label class="check">
        Read as
        <select
          class="select"
          value={source.type}
          onChange={(event) => {
            const { value } = event.currentTarget
            if (isReading(value)) void readAs(value)
          }}
        >
          {readings.map(([type, words]) => (
            <option key={type} value={type}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {source.type === 'csv' ? <LabelColumn source={source} /> : null}
    </div>
  )
}

function Chosen({ source }: { readonly source: DataSource }): JSX.Element {
  const folder = source.type === 'images'
  return (
    <section class="card stack-2">
      <div class="row">
        <div class="grow path">
          <b>{fileName(pathOf(source))}</b>{' '}
          <span class="soft">{preview.value === null ? '' : sizeWords(preview.value)}</span>
        </div>
        <Button onPress={folder ? chooseFolder : chooseFile}>
          {folder ? 'Another folder…' : 'Another file…'}
        </Button>
      </div>
      <Reading source={source} />
    </section>
  )
}

function sizeWords({ samples, classes }: DataPreview): string {
  return `${count(samples)} samples${classes.length === 0 ? '' : `, ${count(classes.length)} classes`}`
}

function Faults({ faults }: Pick<DataPreview, 'faults'>): JSX.Element {
  const shown = faults.slice(0, 8)
  return (
    <Banner
      tone="trouble"
      icon="bad"
      title={`${count(faults.length)} ${faults.length === 1 ? 'place' : 'places'} cannot be used`}
    >
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">What is wrong</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ where, problem }) => (
            <tr key={where}>
              <td class="nowrap">{where}</td>
              <td>{problem}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {faults.length > shown.length ? <p>And {count(faults.length - shown.length)} more.</p> : null}
      <div class="actions">
        <Button busy={inspecting.busy.value} onPress={inspect}>
          Check again
        </Button>
        <span class="soft">once the file is corrected</span>
      </div>
    </Banner>
  )
}

function Samples({ seen }: { readonly seen: DataPreview }): JSX.Element {
  const pictures = seen.examples.every(({ picture }) => picture !== undefined)
  return (
    <Card
      title="What the pool would see"
      side={<span class="small">{`${seen.examples.length} of ${count(seen.samples)} samples`}</span>}
    >
      {seen.examples.length === 0 ? <p class="soft">No sample can be shown.</p> : null}
      <ul class={pictures ? 'samples' : 'samples texts'}>
        {seen.examples.map(({ label, text, picture }, index) => (
          <li key={index}>
            {picture === undefined ? (
              <span class="sample-text mono">{text}</span>
            ) : (
              <img src={picture} alt="" />
            )}
            <span>{label}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function HeldOut({ seen }: { readonly seen: DataPreview }): JSX.Element {
  const kept = Math.round((seen.samples * draft.value.heldOutPercent) / 100)
  return (
    <section class="card">
      <div class="row wrap">
        <div class="grow">
          <label for="held-out">
            <b>Kept back to check the model</b>
          </label>
          <div class="soft">
            {kept === 0
              ? 'None: there will be no validation curve.'
              : `About ${count(kept)} samples are never trained on; the validation curve uses them.`}
          </div>
        </div>
        <NumberInput
          id="held-out"
          value={draft.value.heldOutPercent}
          unit="%"
          bounds={{ least: 0, most: 90, whole: true }}
          onValue={(heldOutPercent) => {
            change({ heldOutPercent })
          }}
        />
      </div>
    </section>
  )
}

function Looking(): JSX.Element {
  return (
    <Banner tone="fine" icon="wait" title="Looking into the data">
      <p>Every row is read once. Large files take a while; nothing leaves this PC.</p>
    </Banner>
  )
}

function Seen({ seen }: { readonly seen: DataPreview }): JSX.Element {
  return (
    <>
      {seen.faults.length > 0 ? <Faults faults={seen.faults} /> : null}
      <Samples seen={seen} />
      <HeldOut seen={seen} />
    </>
  )
}

export function DataStep(): JSX.Element {
  const { source } = draft.value
  if (source === null)
    return (
      <>
        <Choose />
        <Fault of={inspecting} />
        <ModelOfYours />
      </>
    )
  return (
    <>
      <Chosen source={source} />
      <Fault of={inspecting} />
      {inspecting.busy.value ? <Looking /> : null}
      {preview.value === null ? null : <Seen seen={preview.value} />}
    </>
  )
}
