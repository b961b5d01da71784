/** One editor a limit. Each shows what is set and sends what a person changed, when they are done with the field. */
import { useSignal } from '@preact/signals'
import type { FunctionComponent, JSX } from 'preact'
import type { LimitName } from '../../../shared/limits.ts'
import { gibibyte } from '../../../shared/units.ts'
import { gibibytes, percent } from '../words/numbers.ts'
import { HoursEditor } from './hours-editor.tsx'
import type { EditorProps } from './limit-editor.ts'
import { NumberInput } from './number-input.tsx'
import { Programs } from './programs.tsx'

const megabyte = 1_000_000

function Share({ set, change }: EditorProps): JSX.Element {
  const shown = useSignal<number | null>(null)
  const value = shown.value ?? Math.round(set.computeShare * 100)
  return (
    <>
      <span class="slide">
        <input
          type="range"
          aria-label="Share of the time that training may work"
          aria-valuetext={`${value}% of the time`}
          min={5}
          max={100}
          step={5}
          value={value}
          onInput={(event) => {
            shown.value = Number(event.currentTarget.value)
          }}
          onChange={(event) => {
            shown.value = null
            change({ computeShare: Number(event.currentTarget.value) / 100 })
          }}
        />
      </span>
      <output>{value === 100 ? 'no cap' : `${percent(value / 100)} of the time`}</output>
    </>
  )
}

interface CapProps {
  readonly on: boolean
  readonly words: string
  readonly label: string
  readonly value: number
  readonly unit: string
  readonly most: number
  readonly whole?: boolean
  /** 0: no cap. */
  readonly onCap: (value: number) => void
  /** What it begins with when it is switched on. */
  readonly start: number
}

/** A switch, and a number while it is on. */
function Cap({ on, words, label, value, unit, most, whole, onCap, start }: CapProps): JSX.Element {
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => {
            onCap(event.currentTarget.checked ? start : 0)
          }}
        />
        {words}
      </label>
      {on ? (
        <NumberInput
          label={label}
          value={value}
          unit={unit}
          bounds={{ least: whole === true ? 1 : 0.01, most, whole: whole === true }}
          onValue={onCap}
        />
      ) : null}
    </>
  )
}

function Memory({ set, change }: EditorProps): JSX.Element {
  const on = set.memoryBytes > 0
  return (
    <Cap
      on={on}
      words={on ? 'At most' : 'At most… (now: half of what is free)'}
      label="Memory in GB"
      value={gibibytes(set.memoryBytes)}
      unit="GB"
      most={4096}
      start={2}
      onCap={(value) => {
        change({ memoryBytes: Math.round(value * gibibyte) })
      }}
    />
  )
}

const networkCap = (name: 'uploadBytesPerSecond' | 'downloadBytesPerSecond', label: string) =>
  function NetworkCap({ set, change }: EditorProps): JSX.Element {
    const on = set[name] > 0
    return (
      <Cap
        on={on}
        words={on ? 'At most' : 'At most… (now: no cap)'}
        label={label}
        value={Math.round((set[name] / megabyte) * 100) / 100}
        unit="MB/s"
        most={100_000}
        start={1}
        onCap={(value) => {
          change({ [name]: Math.round(value * megabyte) })
        }}
      />
    )
  }

function Idle({ set, change }: EditorProps): JSX.Element {
  return (
    <Cap
      on={set.idleMinutes > 0}
      words="After"
      label="Minutes without keyboard or mouse"
      value={set.idleMinutes}
      unit="min idle"
      most={1440}
      whole
      start={5}
      onCap={(value) => {
        change({ idleMinutes: value })
      }}
    />
  )
}

function Battery({ set, change }: EditorProps): JSX.Element {
  return (
    <select
      class="select narrow"
      aria-label="On battery"
      value={set.trainOnBattery ? 'train' : 'pause'}
      onChange={(event) => {
        change({ trainOnBattery: event.currentTarget.value === 'train' })
      }}
    >
      <option value="pause">Pause on battery</option>
      <option value="train">Train on battery too</option>
    </select>
  )
}

function Metered({ set, change }: EditorProps): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={set.networkIsMetered}
        onChange={(event) => {
          change({ networkIsMetered: event.currentTarget.checked })
        }}
      />
      This network is metered: pause on it
    </label>
  )
}

export const editors: Readonly<Record<LimitName, FunctionComponent<EditorProps>>> = {
  computeShare: Share,
  memoryBytes: Memory,
  uploadBytesPerSecond: networkCap('uploadBytesPerSecond', 'Upload in MB/s'),
  downloadBytesPerSecond: networkCap('downloadBytesPerSecond', 'Download in MB/s'),
  idleMinutes: Idle,
  trainOnBattery: Battery,
  hours: HoursEditor,
  pausePrograms: Programs,
  networkIsMetered: Metered,
}
