/** Join: an invite becomes a card that says what joining would mean; then Join or not. */
import type { JSX } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { JoinCard } from '../../../shared/messages/cards.ts'
import type { Limits } from '../../../shared/limits.ts'
import { perDay, trainingHoursPerDay } from '../../../shared/training-hours.ts'
import { useAsk } from '../ask.ts'
import { Banner, Card, Fault, Foot, PageHead } from '../parts/blocks.tsx'
import { Button } from '../parts/button.tsx'
import { InviteField } from '../parts/invite-field.tsx'
import { PoolOutlook } from '../parts/pool-outlook.tsx'
import { goTo, limits, now, snapshot } from '../state.ts'
import {
  bytes,
  bytesPerSecond,
  count,
  few,
  inMillions,
  memory,
  moment,
  percent,
  range,
  rough,
  roughBytes,
} from '../words/numbers.ts'
import { asSentence } from '../words/sentence.ts'
import { jobRuns } from '../words/this-pc.ts'
import { card, invite, looking, putAside } from './join-state.ts'

function JobFacts({ job }: { readonly job: JoinCard }): JSX.Element {
  return (
    <Card title="The job">
      <dl class="kv">
        <dt>Name</dt>
        <dd>{job.name}</dd>
        <dt>Host</dt>
        <dd>
          {job.hostName}
          <span class="small faint">
            Key …<span class="mono">{job.host.slice(-8)}</span>. Unsure? Compare it with the host.
          </span>
        </dd>
        <dt>Model</dt>
        <dd>
          {job.model}, {inMillions(job.parameters)} parameters ({bytes(job.parameters * 4)})
        </dd>
        {/* Else it stands above. */}
        {job.outlook === null ? (
          <>
            <dt>Pool now</dt>
            <dd>{job.members === 1 ? 'The host alone' : `${count(job.members)} PCs`}</dd>
          </>
        ) : null}
        <dt>Limited by</dt>
        <dd>
          {asSentence(job.limitedBy)}
          <span class="small soft">{job.gain}</span>
        </dd>
        <dt>They see</dt>
        <dd>This PC’s name, speed and network address; never your files.</dd>
        <dt>Invite</dt>
        <dd>Ends {moment(job.inviteExpiresAt, now.value)}</dd>
      </dl>
    </Card>
  )
}

function processorWords({ computeShare, idleMinutes }: Limits): string {
  const share =
    computeShare === 1 ? 'As much as training needs' : `Up to ${percent(computeShare)} of the time`
  return idleMinutes === 0 ? share : `${share}, while nobody uses this PC`
}

const capWords = (cap: number): JSX.Element | null =>
  cap === 0 ? null : <span class="small soft">your cap is {bytesPerSecond(cap)}</span>

function Cost({ job, agreed }: { readonly job: JoinCard; readonly agreed: Limits }): JSX.Element {
  const hours = trainingHoursPerDay(agreed)
  return (
    <Card title="This PC" side={<span class="small">estimate, within your limits</span>}>
      <dl class="kv">
        <dt>Adds</dt>
        <dd>
          <b>{range(job.samplesPerSecond, rough)} samples/s</b>
          <span class="small soft">by itself; other PCs and the links between them can make it less</span>
        </dd>
        <dt>Memory</dt>
        <dd>At most {memory(job.memoryBytes)}</dd>
        <dt>Processor</dt>
        <dd>{processorWords(agreed)}</dd>
        <dt>Upload</dt>
        <dd>
          {range(job.uploadBytesPerHour, roughBytes)} per hour
          {capWords(agreed.uploadBytesPerSecond)}
        </dd>
        <dt>Download</dt>
        <dd>
          {range(job.downloadBytesPerHour, roughBytes)} per hour
          {capWords(agreed.downloadBytesPerSecond)}
        </dd>
        <dt>Per day</dt>
        <dd>
          {range(perDay(job.uploadBytesPerHour, hours), roughBytes)} up,{' '}
          {range(perDay(job.downloadBytesPerHour, hours), roughBytes)} down
          <span class="small soft">
            {hours === 24
              ? 'if it trains around the clock'
              : `in the ${few(hours)} hours a day that you allow`}
          </span>
        </dd>
      </dl>
    </Card>
  )
}

function Decision({ running }: { readonly running: boolean }): JSX.Element {
  const asker = useAsk()
  const join = async () => {
    const joined = await asker.ask(() => window.rookery.join({ invite: invite.peek() }))
    if (joined === undefined) return
    putAside()
    goTo('job')
  }
  return (
    <Foot
      text={
        <>
          <p>
            {running
              ? 'This PC trains already. Leave that job first; then you can join this one.'
              : 'You can pause or leave at any time.'}
          </p>
          <Fault of={asker} />
        </>
      }
    >
      <Button
        onPress={() => {
          putAside()
          goTo('home')
        }}
      >
        Not now
      </Button>
      <Button kind="primary" disabled={running} busy={asker.busy.value} onPress={join}>
        {asker.busy.value ? 'Joining…' : 'Join and start training'}
      </Button>
    </Foot>
  )
}

export function JoinPage(): JSX.Element {
  const job = card.value
  const agreed = limits.value
  useLayoutEffect(() => {
    // The card is the answer to what was asked: read it from its heading.
    if (job !== null) document.getElementById('title')?.focus()
  }, [job])
  if (job === null || agreed === null)
    return (
      <>
        <PageHead
          title="Join a pool"
          lead="Paste the link that the host sent you. You see the job and what it costs this PC before anything starts."
        />
        <section class="card">
          <InviteField focus={looking.busy.peek() ? false : true} />
        </section>
        {looking.busy.value ? (
          <Banner tone="fine" icon="wait" title="Asking the host">
            <p>The host has to answer. If its PC is off, this gives up within a minute.</p>
          </Banner>
        ) : null}
      </>
    )
  return (
    <>
      <PageHead title={`Join ${job.hostName}’s pool?`} lead="Nothing starts until you choose Join." />
      <PoolOutlook job={job} />
      <div class="cols even">
        <JobFacts job={job} />
        <Cost job={job} agreed={agreed} />
      </div>
      <Decision running={jobRuns(snapshot.value)} />
    </>
  )
}
