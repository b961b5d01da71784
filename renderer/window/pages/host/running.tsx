/** A job that this PC hosts: who is there, the invite, start, stop and keep the model. */
import type { JSX } from 'preact'
import { useAsk } from '../../ask.ts'
import type { JobView } from '../../../../shared/messages/control.ts'
import { Card, Fault, PageHead } from '../../parts/blocks.tsx'
import { Button, ConfirmButton } from '../../parts/button.tsx'
import { InviteCard } from '../../parts/invite-card.tsx'
import { JobProgress } from '../../parts/job-progress.tsx'
import { asSentence } from '../../words/sentence.ts'
import { Members } from './members.tsx'

function Closed(): JSX.Element {
  return (
    <Card title="Invite">
      <p class="soft">The job is about to end and takes no more PCs.</p>
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
        {job.invite === null ? <Closed /> : <InviteCard name={job.name} invite={job.invite} self={self} />}
      </div>
    </>
  )
}
