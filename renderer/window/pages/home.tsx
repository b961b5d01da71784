/** Home: one sentence of what this PC does, what it gave, what it uses of its limits, and what Rookery does not do. */
import type { JSX } from 'preact'
import { useAsk } from '../ask.ts'
import { AgentStopped } from '../parts/agent-stopped.tsx'
import { Banner, Card, Fault, PageHead, Progress } from '../parts/blocks.tsx'
import { Button } from '../parts/button.tsx'
import { Does } from '../parts/does.tsx'
import { Given, InUse } from '../parts/given-and-use.tsx'
import { InviteField } from '../parts/invite-field.tsx'
import { desktop, goTo, limits, now, pcState, snapshot } from '../state.ts'
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import { asSentence } from '../words/sentence.ts'
import { limitInWords, limitNames, wayOut } from '../words/limits.ts'
import { count, duration, moment, percent, range } from '../words/numbers.ts'
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

export function JobProgress({ job, note }: { readonly job: JobView; readonly note?: string }): JSX.Element {
  const share = job.targetUpdates === 0 ? 0 : job.updates / job.targetUpdates
  const done =
    job.targetUpdates === 0
      ? 'No update yet: training has not started'
      : `${percent(share)} done: ${count(job.updates)} of ${count(job.targetUpdates)} updates`
  const left =
    job.secondsLeft === null ? 'time left: not known yet' : `${range(job.secondsLeft, duration)} left`
  return (
    <Card
      title={job.name}
      side={
        <a class="small" href="#job">
          Open job
        </a>
      }
    >
      <div class="stack-2">
        <Progress share={share} label={`${percent(share)} of the updates are done`} />
        <div class="row wrap">
          <span class="grow">{done}</span>
          <span class="soft">{note ?? (job.result === null ? left : job.result.reason)}</span>
        </div>
      </div>
    </Card>
  )
}

function PausedBanner({ state }: { readonly state: Snapshot }): JSX.Element | null {
  const asker = useAsk()
  const limit = pausingLimit(state)
  const user = state.pausedByUser
  if (user !== null)
    return (
      <Banner
        tone="caution"
        icon="paused"
        title={
          user.untilMs === null
            ? 'You paused training'
            : `You paused training until ${moment(user.untilMs, now.value)}`
        }
      >
        <p>
          {user.untilMs === null ? 'It goes on when you choose Resume.' : 'It goes on by itself then.'} Work
          that was in flight is finished and sent; the other PCs train on where they can.
        </p>
        <div class="actions">
          <Button busy={asker.busy.value} onPress={() => asker.ask(() => window.rookery.resume({}))}>
            Resume now
          </Button>
        </div>
        <Fault of={asker} />
      </Banner>
    )
  if (limit === undefined) return null
  const way = wayOut(limit.limit)
  return (
    <Banner
      tone="caution"
      icon={limit.limit === 'trainOnBattery' ? 'battery' : 'paused'}
      title={`Paused by your limit “${limitNames[limit.limit]}”`}
    >
      <p>{asSentence(limit.reason)} Training goes on by itself when this no longer holds. Nothing is lost.</p>
      <p class="soft">The other PCs train on where they can.</p>
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

export function HomePage(): JSX.Element {
  const state = snapshot.value
  const here = pcState.value
  const runs = jobRuns(state)
  const stopped = desktop.value?.agent === 'stopped'
  return (
    <>
      <PageHead
        title={headingOf(state, here)}
        lead={
          stopped ? 'The part of Rookery that trains has stopped. This window still works.' : leadOf(state)
        }
      />
      {stopped ? <AgentStopped /> : null}
      {!stopped && state !== null ? <PausedBanner state={state} /> : null}
      {state?.job == null || (!runs && state.job.result === null) ? null : <JobProgress job={state.job} />}
      {runs || stopped ? null : <TwoWaysIn />}
      {runs || stopped ? null : <LimitsAtStart />}
      {state === null || (!runs && state.contribution.total.samples === 0) ? null : (
        <div class="cols even">
          <Given contribution={state.contribution} />
          <InUse use={state.use} />
        </div>
      )}
      <Does />
    </>
  )
}
