/** Job: how far, how fast, how good, who holds what, and what happened with the reason for every wait. */
import type { JSX } from 'preact'
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import { useAsk } from '../ask.ts'
import { AgentStopped } from '../parts/agent-stopped.tsx'
import { Banner, Card, Fault, PageHead } from '../parts/blocks.tsx'
import { ConfirmButton } from '../parts/button.tsx'
import { CurveChart } from '../parts/curve-chart.tsx'
import { JobLog } from '../parts/job-log.tsx'
import { PoolList } from '../parts/pool-list.tsx'
import { PoolPicture } from '../parts/pool-picture.tsx'
import { desktop, pcState, snapshot } from '../state.ts'
import { noCurveReason } from '../words/curve.ts'
import { factsOf, jobLead, unusedWords } from '../words/job-facts.ts'
import { troubleOf } from '../words/job-trouble.ts'
import type { JobTrouble } from '../words/job-trouble.ts'
import { asTitle } from '../words/sentence.ts'
import { comesBack, comesBackLead, comesBackTitle, jobRuns } from '../words/this-pc.ts'

function Facts({ job }: { readonly job: JobView }): JSX.Element {
  return (
    <dl class="facts">
      {factsOf(job).map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value} {note === '' ? null : <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Curve({ job }: { readonly job: JobView }): JSX.Element {
  const reason = noCurveReason(job)
  if (reason === undefined) return <CurveChart job={job} theme={desktop.value?.theme ?? 'system'} />
  return (
    <Card title="Loss">
      <p class="soft">{reason}</p>
    </Card>
  )
}

function Pool({ job, self }: { readonly job: JobView; readonly self: string }): JSX.Element {
  if (job.plan === null)
    return (
      <Card title="The pool">
        <p class="soft">
          {job.members.length > 0 && job.role === 'host'
            ? `Here: ${job.members.map(({ displayName }) => displayName).join(', ')}. Who holds which layers is planned when training starts.`
            : 'Who holds which layers is planned when training starts.'}
        </p>
      </Card>
    )
  const view = { plan: job.plan, members: job.members, self }
  return (
    <Card
      title="The pool"
      side={
        <span class="small">Left to right: layers. Rings average the PCs that hold the same layers.</span>
      }
    >
      <PoolPicture view={view} />
      <PoolList view={view} />
      {unusedWords(job).map((text) => (
        <p key={text} class="small soft">
          {text}
        </p>
      ))}
    </Card>
  )
}

function LeaveJob({ job }: { readonly job: JobView }): JSX.Element {
  const asker = useAsk()
  const host = job.role === 'host'
  return (
    <>
      <ConfirmButton
        ask={host ? 'Stop without a model…' : 'Leave job…'}
        question={
          host
            ? 'The job ends for everyone and no model is kept. To keep it, use “Stop and keep the model” on Host.'
            : 'The others take over what this PC’s layers have learned, then it leaves. That takes a few seconds.'
        }
        deed={host ? 'Stop the job' : 'Leave job'}
        busy={asker.busy.value}
        onConfirm={() => asker.ask(() => window.rookery.leave({}))}
      />
      <Fault of={asker} />
    </>
  )
}

function NoJob({ state }: { readonly state: Snapshot | null }): JSX.Element {
  const head =
    state !== null && comesBack(state)
      ? { title: comesBackTitle(state), lead: comesBackLead }
      : {
          title: 'No job',
          lead: 'When this PC takes part in a job, its curve, its pool and its log stand here.',
        }
  return (
    <>
      <PageHead {...head} />
      <AgentStopped />
      <section class="card row wrap">
        <span class="grow">Join a friend’s pool with an invite, or host a job of your own.</span>
        <a class="btn" href="#join">
          Join a pool
        </a>
        <a class="btn" href="#host">
          Host a job
        </a>
      </section>
    </>
  )
}

const troubleIcons = { trouble: 'bad', caution: 'wait', fine: 'ok' } as const

function TroubleBanner({ trouble }: { readonly trouble: JobTrouble | undefined }): JSX.Element | null {
  if (trouble === undefined) return null
  return (
    <Banner tone={trouble.tone} icon={troubleIcons[trouble.tone]} title={trouble.title}>
      <p>{trouble.text}</p>
    </Banner>
  )
}

function ComingBack({ state }: { readonly state: Snapshot }): JSX.Element | null {
  if (!comesBack(state)) return null
  return (
    <Banner tone="caution" icon="wait" title={comesBackTitle(state)}>
      <p>{comesBackLead}</p>
    </Banner>
  )
}

function PausedNote({ job }: { readonly job: JobView }): JSX.Element | null {
  const { tone, detail } = pcState.value
  if (tone !== 'paused' || job.result !== null) return null
  return (
    <Banner tone="caution" icon="paused" title={`This PC is paused: ${asTitle(detail)}`}>
      <p>
        Nothing is lost: what was in flight is finished and sent. <a href="#home">Home</a> says how it goes
        on.
      </p>
    </Banner>
  )
}

export function JobPage(): JSX.Element {
  const state = snapshot.value
  const job = state?.job
  if (state === null || job == null) return <NoJob state={state} />
  const stopped = desktop.value?.agent === 'stopped'
  return (
    <>
      <PageHead title={job.name} lead={jobLead(job, state.self)}>
        {jobRuns(state) && !stopped ? <LeaveJob job={job} /> : undefined}
      </PageHead>
      <AgentStopped />
      {stopped ? null : <TroubleBanner trouble={troubleOf(job, state.self)} />}
      <ComingBack state={state} />
      <PausedNote job={job} />
      <div class="job-grid">
        <div class="stack">
          <Facts job={job} />
          <Curve job={job} />
          <Pool job={job} self={state.self} />
        </div>
        <JobLog log={job.log} />
      </div>
    </>
  )
}
