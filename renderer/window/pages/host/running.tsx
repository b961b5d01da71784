/** A job that this PC hosts: who is there, the invite, start, stop and keep the model. */
import type { JSX } from 'preact'
import { useAsk } from '../../ask.ts'
import type { JobView, MemberView } from '../../../../shared/messages/control.ts'
import { Card, Fault, PageHead } from '../../parts/blocks.tsx'
import { Button, ConfirmButton } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { InviteCard } from '../../parts/invite-card.tsx'
import { JobProgress } from '../../parts/job-progress.tsx'
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

function Remove({ member }: { readonly member: MemberView }): JSX.Element {
  const asker = useAsk()
  return (
    <>
      <ConfirmButton
        ask="Remove…"
        label={`Remove… ${member.displayName}`}
        question={`${member.displayName} has to go, and its cluster stops until the pool is planned anew.`}
        deed="Remove this PC"
        busy={asker.busy.value}
        onConfirm={() => asker.ask(() => window.rookery.removeMember({ peer: member.peer }))}
      />
      <Fault of={asker} />
    </>
  )
}

function useWords(member: MemberView): string {
  const parts = [
    member.samples > 0 ? `${count(member.samples)} samples` : '',
    member.busyShare > 0 ? `busy ${percent(member.busyShare)}` : '',
    member.peakTensorBytes > 0 ? memory(member.peakTensorBytes) : '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function MemberRow({ member, self }: { readonly member: MemberView; readonly self: string }): JSX.Element {
  const [tone, icon, word] = looks[member.state]
  return (
    <tr>
      <th scope="row">
        {member.displayName}
        {member.peer === self ? <span class="soft"> (this PC)</span> : null}
        <div class="small soft">{useWords(member)}</div>
      </th>
      <td>
        <span class={`state is-${tone}`}>
          <Icon name={icon} />
          {word}
        </span>
        {member.reason === '' ? null : <div class="small soft">{asSentence(member.reason)}</div>}
      </td>
      <td class="n">{member.peer === self || member.state === 'lost' ? null : <Remove member={member} />}</td>
    </tr>
  )
}

function Members({ job, self }: { readonly job: JobView; readonly self: string }): JSX.Element {
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

function Again(): JSX.Element {
  const asker = useAsk()
  return (
    <Card title="Invite">
      <p class="soft">
        The invite has ended, or the job takes no more PCs. A removed or late friend needs a new link.
      </p>
      <div class="actions">
        <Button busy={asker.busy.value} onPress={() => asker.ask(() => window.rookery.invite({}))}>
          Make a new link
        </Button>
      </div>
      <Fault of={asker} />
    </Card>
  )
}

function HeadButtons({ job }: { readonly job: JobView }): JSX.Element {
  const asker = useAsk()
  const waits = job.phase === 'gathering'
  return (
    <>
      {waits ? (
        <Button
          kind="primary"
          busy={asker.busy.value}
          onPress={() => asker.ask(() => window.rookery.start({}))}
        >
          Start now
        </Button>
      ) : (
        <ConfirmButton
          ask="Stop and keep the model…"
          question="Training ends for everyone. The weights as they are become the model."
          deed="Stop and keep the model"
          busy={asker.busy.value}
          onConfirm={() => asker.ask(() => window.rookery.finish({}))}
        />
      )}
      <Fault of={asker} />
    </>
  )
}

export function Running({ job, self }: { readonly job: JobView; readonly self: string }): JSX.Element {
  return (
    <>
      <PageHead title={job.name} lead={`Hosted by this PC. ${asSentence(job.text)}`}>
        <HeadButtons job={job} />
      </PageHead>
      <div class="cols wide-left">
        <div class="stack">
          {job.phase === 'gathering' ? null : <JobProgress job={job} />}
          <Members job={job} self={self} />
        </div>
        {job.invite === null ? <Again /> : <InviteCard name={job.name} invite={job.invite} />}
      </div>
    </>
  )
}
