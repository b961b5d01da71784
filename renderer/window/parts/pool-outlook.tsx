/** What a pool is expected to do now, with this PC and with one more: nothing where its host had no time to say. */
import type { JSX } from 'preact'
import type { JoinCard, Prospect } from '../../../shared/messages/cards.ts'
import { count, range, rough, timeRange } from '../words/numbers.ts'

function Expected({ name, of }: { readonly name: string; readonly of: Prospect | null }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      {of === null ? (
        <dd>
          does not fit <small>too little memory for this model</small>
        </dd>
      ) : (
        <dd>
          {range(of.samplesPerSecond, rough)} samples/s <small>done in {timeRange(of.seconds)}</small>
        </dd>
      )}
    </div>
  )
}

export function PoolOutlook({ job }: { readonly job: JoinCard }): JSX.Element | null {
  const { outlook, members } = job
  if (outlook === null) return null
  const pcs = members === 1 ? 'The host alone now' : `The pool of ${count(members)} PCs now`
  return (
    <dl class="facts three">
      <Expected name={pcs} of={outlook.now} />
      <Expected name="With this PC" of={outlook.withYou} />
      <Expected name="And one more like it" of={outlook.withOneMore} />
    </dl>
  )
}
