/** Who is in a job that this PC hosts, how each stands, and the way to remove one. */
import { useSignal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { JobView, MemberView } from '../../../../shared/messages/control.ts'
import { useAsk } from '../../ask.ts'
import type { Asker } from '../../ask.ts'
import { Card, Fault } from '../../parts/blocks.tsx'
import { Button, Question } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { count, memory, percent } from '../../words/numbers.ts'
import { asSentence } from '../../words/sentence.ts'

const looks: Readonly<Record<MemberView['state'], readonly [tone: string, icon: IconName, word: string]>> = {
  joined: ['idle', 'person', 'here'],
  preparing: ['waiting', 'wait', 'getting ready'],
  ready: ['idle', 'ok', 'ready'],
  training: ['training', 'training', 'training'],
  paused: ['paused', 'paused', 'paused'],
  finished: ['idle', 'ok', 'finished'],
  idle: ['waiting', 'wait', 'waits'],
  lost: ['trouble', 'bad', 'lost'],
}

function useWords(member: MemberView): string {
  const parts = [
    member.samples > 0 ? `${count(member.samples)}\u00a0samples` : '',
    member.busyShare > 0 ? `busy\u00a0${percent(member.busyShare)}` : '',
    member.peakTensorBytes > 0 ? memory(member.peakTensorBytes) : '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function StateOf({ member }: { readonly member: MemberView }): JSX.Element {
  const [tone, icon, word] = looks[member.state]
  return (
    <>
      <span class={`state is-${tone}`}>
        <Icon name={icon} />
        {word}
      </span>
      {member.reason === '' ? null : <div class="small soft">{asSentence(member.reason)}</div>}
    </>
  )
}

interface RemoveRowProps {
  readonly member: MemberView
  readonly asking: Signal<boolean>
  readonly asker: Asker
}

/** Below the member: the question, or why it could not be removed. */
function RemoveRow({ member, asking, asker }: RemoveRowProps): JSX.Element | null {
  if (!asking.value && asker.fault.value === '') return null
  return (
    <tr class="below">
      <td colSpan={3}>
        {asking.value ? (
          <Question
            title={`Remove ${member.displayName}?`}
            question={`${member.displayName} has to go, and its cluster stops until the pool is planned anew.`}
            deed="Remove this PC"
            onKeep={() => {
              asking.value = false
            }}
            onDeed={() => {
              asking.value = false
              void asker.ask(() => window.rookery.removeMember({ peer: member.peer }))
            }}
          />
        ) : null}
        <Fault of={asker} />
      </td>
    </tr>
  )
}

function MemberRow({ member, self }: { readonly member: MemberView; readonly self: string }): JSX.Element {
  const asker = useAsk()
  const asking = useSignal(false)
  const row = useRef<HTMLTableRowElement>(null)
  const asked = useRef(false)
  useLayoutEffect(() => {
    if (asked.current && !asking.value) row.current?.querySelector('button')?.focus()
    asked.current = asking.value
  }, [asking.value])
  return (
    <>
      <tr ref={row}>
        <th scope="row">
          {member.displayName}
          {member.peer === self ? <span class="soft"> (this PC)</span> : null}
          <div class="small soft">{useWords(member)}</div>
        </th>
        <td>
          <StateOf member={member} />
        </td>
        <td class="n">
          {member.peer === self || member.state === 'lost' ? null : (
            <Button
              kind="danger"
              label={`Remove… ${member.displayName}`}
              busy={asker.busy.value}
              onPress={() => {
                asking.value = true
              }}
            >
              Remove…
            </Button>
          )}
        </td>
      </tr>
      <RemoveRow member={member} asking={asking} asker={asker} />
    </>
  )
}

export function Members({ job, self }: { readonly job: JobView; readonly self: string }): JSX.Element {
  return (
    <Card
      title="Members"
      side={
        <span class="small">{count(job.members.filter(({ state }) => state !== 'lost').length)} here</span>
      }
    >
      <table class="table members">
        <thead>
          <tr>
            <th scope="col">PC</th>
            <th scope="col">State</th>
            <th scope="col" class="n">
              <span class="visually-hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {job.members.map((member) => (
            <MemberRow key={member.peer} member={member} self={self} />
          ))}
        </tbody>
      </table>
      {job.members.length <= 1 ? (
        <p class="soft">Nobody else is here yet. Send the invite to your friends.</p>
      ) : null}
    </Card>
  )
}
