/** Host: the wizard, or the job that this PC hosts, or what to do with its finished model. */
import type { JSX } from 'preact'
import { AgentStopped } from '../../parts/agent-stopped.tsx'
import { Banner, PageHead } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { desktop, snapshot } from '../../state.ts'
import { jobRuns } from '../../words/this-pc.ts'
import { asSentence } from '../../words/sentence.ts'
import { ModelOfYours, ModelTools } from './model-tools.tsx'
import { Running } from './running.tsx'
import { Wizard } from './wizard.tsx'
import { putAsideJob } from './wizard-state.ts'
import type { JobView, Snapshot } from '../../../../shared/messages/control.ts'

function Ended({ job }: { readonly job: JobView }): JSX.Element {
  const { result } = job
  return (
    <>
      <PageHead title={job.name} lead={asSentence(result?.reason ?? job.text)}>
        <Button
          onPress={() => {
            putAsideJob.value = job.job
          }}
        >
          Host another job
        </Button>
      </PageHead>
      {result?.model == null ? (
        <Banner
          tone={result?.outcome === 'failed' ? 'trouble' : 'caution'}
          icon="bad"
          title="There is no model of this job"
        >
          <p>{asSentence(result?.reason ?? 'it ended before one could be made')}</p>
        </Banner>
      ) : (
        <ModelTools model={result.model} scores={result.validation} />
      )}
    </>
  )
}

function Busy({ job }: { readonly job: JobView }): JSX.Element {
  return (
    <>
      <PageHead
        title="Host a job"
        lead={`This PC trains “${job.name}” now. Leave that job first; then you can host one.`}
      >
        <a class="btn" href="#job">
          Open job
        </a>
      </PageHead>
      <ModelOfYours />
    </>
  )
}

/** The job that this PC is in, or the wizard when that one is over. */
function OfJob({ state, job }: { readonly state: Snapshot; readonly job: JobView }): JSX.Element {
  if (job.role === 'member') return jobRuns(state) ? <Busy job={job} /> : <Wizard />
  if (jobRuns(state)) return <Running job={job} self={state.self} />
  const aside = job.result === null || putAsideJob.value === job.job
  return aside ? <Wizard /> : <Ended job={job} />
}

export function HostPage(): JSX.Element {
  const state = snapshot.value
  if (desktop.value?.agent === 'stopped')
    return (
      <>
        <PageHead title="Host a job" lead="Hosting needs the agent, and it has stopped." />
        <AgentStopped />
      </>
    )
  return state?.job == null ? <Wizard /> : <OfJob state={state} job={state.job} />
}
