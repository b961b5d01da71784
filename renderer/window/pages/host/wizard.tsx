/** The host's wizard: five steps, nothing is sent to anyone before the last one. */
import type { JSX } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { useAsk } from '../../ask.ts'
import { Fault, Foot, PageHead } from '../../parts/blocks.tsx'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { DataStep } from './step-data.tsx'
import { ForecastStep } from './step-forecast.tsx'
import { ModelStep } from './step-model.tsx'
import { RecipeStep } from './step-recipe.tsx'
import { WhoStep } from './step-who.tsx'
import { chosenModel, draft, inspecting, jobFile, preview, startOver, step, steps } from './wizard-state.ts'

const bodies: readonly (() => JSX.Element)[] = [DataStep, ModelStep, RecipeStep, WhoStep, ForecastStep]

const notes = [
  'Your data stays on this PC until somebody joins.',
  'You can change the model until the job starts.',
  'The settings as they stand train well; change them only if you know why.',
  'You can remove a PC and make a new link at any time.',
  'Stop at any time and keep the model.',
]

function Steps(): JSX.Element {
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map((name, index) => {
        const done = index < step.value
        return (
          <li
            key={name}
            class={done ? 'done' : undefined}
            aria-current={index === step.value ? 'step' : undefined}
          >
            {done ? <Icon name="ok" /> : <span class="num">{index + 1}</span>}
            {name}
          </li>
        )
      })}
    </ol>
  )
}

/** Why the next step has to wait, in a sentence; undefined when it need not. */
function waitFor(): string | undefined {
  if (draft.value.source === null) return 'Choose your data first.'
  if (inspecting.busy.value) return 'The data is being looked into.'
  if (preview.value === null) return 'The data cannot be used as it is; see above.'
  if (preview.value.faults.length > 0) return 'Correct the rows above, then check again.'
  return undefined
}

function Launch(): JSX.Element {
  const asker = useAsk()
  const launch = async () => {
    const job = jobFile.peek()
    if (job === null) return
    const started = await asker.ask(() => window.rookery.host({ job }))
    if (started !== undefined) startOver()
  }
  return (
    <Foot
      text={
        <>
          <p>{notes[4]}</p>
          <Fault of={asker} />
        </>
      }
    >
      <Back />
      <Button kind="primary" busy={asker.busy.value} onPress={launch}>
        {asker.busy.value ? 'Opening the job…' : 'Open the job and get the invite'}
      </Button>
    </Foot>
  )
}

function move(by: number): void {
  step.value += by
}

function Back(): JSX.Element {
  return (
    <Button
      onPress={() => {
        if (step.value === 0) startOver()
        else move(-1)
      }}
    >
      {step.value === 0 ? 'Start over' : 'Back'}
    </Button>
  )
}

function Onward(): JSX.Element {
  const begun = draft.value.source !== null
  const wait = waitFor()
  const next = steps[step.value + 1]
  return (
    <Foot text={<p>{wait ?? notes[step.value]}</p>}>
      {begun ? <Back /> : null}
      <Button
        kind="primary"
        disabled={wait !== undefined}
        onPress={() => {
          move(1)
        }}
      >
        {`Next: ${(next ?? '').toLowerCase()}`}
      </Button>
    </Foot>
  )
}

function leadOfWizard(): string {
  if (step.value === 0) return 'Five steps. Nothing is sent to anyone before the last one.'
  const model = chosenModel.value
  return `“${jobFile.value?.name ?? ''}”${model === undefined ? '' : ` with ${model.name}`}.`
}

export function Wizard(): JSX.Element {
  const Body = bodies[step.value] ?? DataStep
  useLayoutEffect(() => {
    document.querySelector('.page')?.scrollTo(0, 0)
    if (step.value > 0) document.getElementById('title')?.focus()
  }, [step.value])
  return (
    <>
      <PageHead title="Host a job" lead={leadOfWizard()} />
      <Steps />
      <Body />
      {step.value === steps.length - 1 ? <Launch /> : <Onward />}
    </>
  )
}
