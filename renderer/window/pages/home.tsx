/** Home: one sentence of what this PC does, what it gave, what it uses of its limits, and what Rookery does not do. */
import type { JSX } from 'preact'
import { useAsk } from '../ask.ts'
import { AgentStopped } from '../parts/agent-stopped.tsx'
import { Banner, Card, Fault, PageHead } from '../parts/blocks.tsx'
import { Button } from '../parts/button.tsx'
import { Does } from '../parts/does.tsx'
import { Given, InUse } from '../parts/given-and-use.tsx'
import { JobProgress } from '../parts/job-progress.tsx'
import { InviteField } from '../parts/invite-field.tsx'
import { desktop, goTo, limits, now, pcState, snapshot } from '../state.ts'
import type { LimitState } from '../../../shared/limits.ts'
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import { asTitle } from '../words/sentence.ts'
import { limitInWords, limitNames, wayOut } from '../words/limits.ts'
import { moment } from '../words/numbers.ts'
import { headingOf, jobRuns, leadOf, pausingLimit } from '../words/this-pc.ts'
import { card } from './join-state.ts'

const firstLimits = ['computeShare', 'memoryBytes', 'uploadBytesPerSecond', 'trainOnBattery'] as const

function TwoWaysIn(): JSX.Element {
  return (
    <div class="cols even">
      <section class="card choice">
        <h2>A friend sent you an invite</h2>
        <p class="soft">
          Paste the link. You see the job, what this PC would add and what it costs you, and then decide.
        </p>
        <InviteField
          focus
          onLook={() => {
            if (card.peek() !== null) goTo('join')
          }}
        />
      </section>
      <section class="card choice">
        <h2>You want to train a model</h2>
        <p class="soft">
          Pick your data and a model, see how long it would take with 1 to 8 PCs, and get a link for your
          friends. Your data goes only to PCs that join with it.
        </p>
        <a class="btn" href="#host">
          Host a job
        </a>
      </section>
    </div>
  )
}

function LimitsAtStart(): JSX.Element | null {
  const set = limits.value
  if (set === null) return null
  return (
    <Card
      title="Limits that hold from the start"
      side={
        <a class="small" href="#limits">
          Change
        </a>
      }
    >
      <dl class="kv">
        {firstLimits.map((name) => [
          <dt key={name}>{limitNames[name]}</dt>,
          <dd key={`${name}-set`}>{limitInWords(name, set)}</dd>,
        ])}
      </dl>
    </Card>
  )
}

function PausedByUser({ untilMs }: NonNullable<Snapshot['pausedByUser']>): JSX.Element {
  const asker = useAsk()
  const until = untilMs === null ? '' : ` until ${moment(untilMs, now.value)}`
  return (
    <Banner tone="caution" icon="paused" title={`You paused training${until}`}>
      <p>
        {untilMs === null ? 'It goes on when you choose Resume.' : 'It goes on by itself then.'} Work that was
        in flight is finished and sent; the other PCs train on where they can.
      </p>
      <div class="actions">
        <Button busy={asker.busy.value} onPress={() => asker.ask(() => window.rookery.resume({}))}>
          Resume now
        </Button>
      </div>
      <Fault of={asker} />
    </Banner>
  )
}

function PausedByLimit({ limit, reason }: LimitState): JSX.Element {
  const asker = useAsk()
  const way = wayOut(limit)
  return (
    <Banner tone="caution" icon={limit === 'trainOnBattery' ? 'battery' : 'paused'} title={asTitle(reason)}>
      <p>
        Your limit “{limitNames[limit]}” pauses training; it goes on by itself when this no longer holds.
        Nothing is lost, and the other PCs train on where they can.
      </p>
      <div class="actions">
        {way === undefined ? null : (
          <Button
            busy={asker.busy.value}
            onPress={() => asker.ask(() => window.rookery.setLimits(way.change))}
          >
            {way.label}
          </Button>
        )}
        <a class="btn plain" href="#limits">
          Change limits
        </a>
      </div>
      <Fault of={asker} />
    </Banner>
  )
}

function PausedBanner({ state }: { readonly state: Snapshot }): JSX.Element | null {
  if (state.pausedByUser !== null) return <PausedByUser {...state.pausedByUser} />
  const limit = pausingLimit(state)
  return limit === undefined ? null : <PausedByLimit {...limit} />
}

const idleUse = { cpuShare: 0, memoryBytes: 0, uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 }

function GivenAndUse({
  state,
  stopped,
}: {
  readonly state: Snapshot
  readonly stopped: boolean
}): JSX.Element | null {
  if (!jobRuns(state) && state.contribution.total.samples === 0) return null
  return (
    <div class="cols even">
      <Given contribution={state.contribution} />
      <InUse use={stopped ? idleUse : state.use} backend={stopped ? '' : state.backend} />
    </div>
  )
}

function JobOfHome({
  job,
  stopped,
}: {
  readonly job: JobView | null
  readonly stopped: boolean
}): JSX.Element | null {
  if (job === null || (job.phase === 'ended' && job.result === null)) return null
  return stopped ? <JobProgress job={job} note="not training on this PC" /> : <JobProgress job={job} />
}

function Lead({ stopped }: { readonly stopped: boolean }): JSX.Element {
  const lead = stopped
    ? 'The part of Rookery that trains has stopped. This window still works.'
    : leadOf(snapshot.value, pcState.value.tone)
  return <PageHead title={headingOf(snapshot.value, pcState.value)} lead={lead} />
}

/** What stands between the heading and what Rookery does: the job where there is one, else the ways in. */
function Middle({ state, stopped }: { readonly state: Snapshot; readonly stopped: boolean }): JSX.Element {
  const free = !jobRuns(state) && !stopped
  return (
    <>
      {stopped ? null : <PausedBanner state={state} />}
      <JobOfHome job={state.job} stopped={stopped} />
      {free ? <TwoWaysIn /> : null}
      {free ? <LimitsAtStart /> : null}
      <GivenAndUse state={state} stopped={stopped} />
    </>
  )
}

export function HomePage(): JSX.Element {
  const stopped = desktop.value?.agent === 'stopped'
  return (
    <>
      <Lead stopped={stopped} />
      <AgentStopped />
      {snapshot.value === null ? null : <Middle state={snapshot.value} stopped={stopped} />}
      <Does />
    </>
  )
}
