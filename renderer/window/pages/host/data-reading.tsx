/** How chosen data is read: its format, and in a table which column is the label. */
import type { JSX } from 'preact'
import type { DataSource } from '../../../../shared/job/data.ts'
import type { SourceType } from '../../words/host-draft.ts'
import { readAs, takeSource } from './wizard-state.ts'

const readings: readonly (readonly [SourceType, string])[] = [
  ['csv', 'a table, one sample a row (CSV)'],
  ['text', 'text'],
  ['images', 'a folder of pictures for each class'],
  ['idx', 'MNIST’s format (IDX)'],
  ['cifar10', 'CIFAR-10’s format'],
]
const isReading = (value: string): value is SourceType => readings.some(([type]) => type === value)

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

export function DataReading({ source }: { readonly source: DataSource }): JSX.Element {
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
