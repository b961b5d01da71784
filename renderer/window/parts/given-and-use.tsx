/** What this PC gave, and what it uses of the limits agreed. */
import type { JSX } from 'preact'
import type { Contribution, Snapshot } from '../../../shared/messages/control.ts'
import { limits } from '../state.ts'
import { bytes, bytesPerSecond, count, duration, memory, percent } from '../words/numbers.ts'
import { Card, Meter } from './blocks.tsx'

const rows: readonly (readonly [string, (given: Contribution) => string])[] = [
  ['Samples trained', ({ samples }) => count(samples)],
  ['Time', ({ trainedSeconds }) => duration(trainedSeconds)],
  ['Uploaded', ({ sentBytes }) => bytes(sentBytes)],
  ['Downloaded', ({ receivedBytes }) => bytes(receivedBytes)],
]

export function Given({ contribution }: { readonly contribution: Snapshot['contribution'] }): JSX.Element {
  return (
    <Card title="What this PC has given">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">What</span>
            </th>
            <th scope="col" class="n">
              Today
            </th>
            <th scope="col" class="n">
              In total
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, say]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="n">{say(contribution.today)}</td>
              <td class="n">{say(contribution.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

interface Used {
  readonly name: string
  readonly value: number
  /** 0: see `unlimited`. */
  readonly limit: number
  readonly unlimited?: string
  readonly say: (value: number) => string
}

function UseMeter({ name, value, limit, say, unlimited }: Used): JSX.Element {
  if (limit === 0) return <Meter name={name} share={null} words={`${say(value)}, ${unlimited ?? 'no cap'}`} />
  return <Meter name={name} share={value / limit} words={`${say(value)} of ${say(limit)}`} />
}

/** Engines that compute on the graphics chip. */
const graphicsEngines = ['tfjs-node-gpu', 'tfjs-webgpu']

export function InUse({
  use,
  backend,
}: {
  readonly use: Snapshot['use']
  readonly backend: string
}): JSX.Element {
  const set = limits.value
  return (
    <Card
      title="In use, of your limits"
      side={
        <a class="small" href="#limits">
          Limits
        </a>
      }
    >
      <div class="meters">
        <UseMeter name="Processor" value={use.cpuShare} limit={set?.computeShare ?? 1} say={percent} />
        <UseMeter
          name="Memory"
          value={use.memoryBytes}
          limit={set?.memoryBytes ?? 0}
          say={memory}
          unlimited="half of what is free"
        />
        <UseMeter
          name="Upload"
          value={use.uploadBytesPerSecond}
          limit={set?.uploadBytesPerSecond ?? 0}
          say={bytesPerSecond}
        />
        <UseMeter
          name="Download"
          value={use.downloadBytesPerSecond}
          limit={set?.downloadBytesPerSecond ?? 0}
          say={bytesPerSecond}
        />
        <Meter
          name="Graphics"
          share={null}
          words={graphicsEngines.includes(backend) ? 'in use, within the processor’s share' : 'not used'}
        />
      </div>
    </Card>
  )
}
