/** Step 1: pick data, see what the pool would see of it, keep some of it back. */
import type { JSX } from 'preact'
import type { DataPreview } from '../../../../shared/messages/cards.ts'
import type { DataSource } from '../../../../shared/job/data.ts'
import { Banner, Fault } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { fileName, guessType, pathOf, sourceOf } from '../../words/host-draft.ts'
import { count } from '../../words/numbers.ts'
import { DataReading } from './data-reading.tsx'
import { DataFaults, DataSamples } from './data-seen.tsx'
import { ModelOfYours } from './model-tools.tsx'
import { change, chooseData, draft, inspecting, preview } from './wizard-state.ts'

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
      <DataReading source={source} />
    </section>
  )
}

function sizeWords({ samples, classes }: DataPreview): string {
  return `${count(samples)} samples${classes.length === 0 ? '' : `, ${count(classes.length)} classes`}`
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
      {seen.faults.length > 0 ? <DataFaults seen={seen} /> : null}
      <DataSamples seen={seen} />
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
