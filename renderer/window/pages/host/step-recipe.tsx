/** Step 3: name and length of the training; everything else is set well and folded away. */
import type { JSX } from 'preact'
import type { ComponentChildren } from 'preact'
import { Card } from '../../parts/blocks.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import type { Bounds } from '../../words/host-draft.ts'
import type { RecipeDraft } from '../../words/host-draft.ts'
import { count, few } from '../../words/numbers.ts'
import { change, changeRecipe, draft, preview } from './wizard-state.ts'

interface RowProps {
  readonly id: string
  readonly name: string
  readonly note: ComponentChildren
  readonly children: ComponentChildren
}

function Row({ id, name, note, children }: RowProps): JSX.Element {
  return (
    <li>
      <div>
        <label for={id}>
          <b>{name}</b>
        </label>
        <div class="soft">{note}</div>
      </div>
      {children}
    </li>
  )
}

type NumberField = {
  [K in keyof RecipeDraft]: RecipeDraft[K] extends number ? K : never
}[keyof RecipeDraft]

interface Field {
  readonly key: NumberField
  readonly name: string
  readonly note: string
  readonly unit: string
  readonly bounds: Bounds
}

const advanced: readonly Field[] = [
  {
    key: 'microBatch',
    name: 'Micro-batch',
    note: 'Samples that travel together through the stages.',
    unit: 'samples',
    bounds: { least: 1, most: 65_536, whole: true },
  },
  {
    key: 'learningRate',
    name: 'Learning rate',
    note: 'How far one update goes.',
    unit: '',
    bounds: { least: 0.000001, most: 10, whole: false },
  },
  {
    key: 'warmupUpdates',
    name: 'Warm-up',
    note: 'The learning rate rises over so many updates.',
    unit: 'updates',
    bounds: { least: 0, most: 1_000_000, whole: true },
  },
  {
    key: 'averageEveryUpdates',
    name: 'Average every',
    note: 'Clusters average their weights after so many updates.',
    unit: 'updates',
    bounds: { least: 1, most: 1_000_000, whole: true },
  },
  {
    key: 'clipNorm',
    name: 'Largest gradient',
    note: 'Larger ones are scaled down; 0: never.',
    unit: '',
    bounds: { least: 0, most: 1000, whole: false },
  },
  {
    key: 'seed',
    name: 'Seed',
    note: 'The same seed begins with the same weights.',
    unit: '',
    bounds: { least: 0, most: 4_294_967_295, whole: true },
  },
]

const optimizers = ['adamw', 'adam', 'sgd', 'lamb'] as const
const isOptimizer = (value: string): value is RecipeDraft['optimizer'] =>
  optimizers.some((name) => name === value)

function Advanced(): JSX.Element {
  const { recipe } = draft.value
  return (
    <details class="card">
      <summary>Advanced settings</summary>
      <ul class="tools fields">
        {advanced.map(({ key, name, note, unit, bounds }) => (
          <Row key={key} id={`recipe-${key}`} name={name} note={note}>
            <NumberInput
              id={`recipe-${key}`}
              value={recipe[key]}
              unit={unit}
              bounds={bounds}
              onValue={(value) => {
                changeRecipe({ [key]: value })
              }}
            />
          </Row>
        ))}
        <Row id="recipe-optimizer" name="Optimizer" note="How a gradient becomes an update.">
          <select
            class="select narrow"
            id="recipe-optimizer"
            value={recipe.optimizer}
            onChange={(event) => {
              const { value } = event.currentTarget
              if (isOptimizer(value)) changeRecipe({ optimizer: value })
            }}
          >
            {optimizers.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </Row>
        <Row
          id="recipe-staleness"
          name="Predict weights"
          note="Each PC computes with its weights as they will be when its gradient comes back."
        >
          <input
            type="checkbox"
            id="recipe-staleness"
            checked={recipe.staleness === 'predict'}
            onChange={(event) => {
              changeRecipe({ staleness: event.currentTarget.checked ? 'predict' : 'none' })
            }}
          />
        </Row>
      </ul>
    </details>
  )
}

/** One PC alone gathers two micro-batches an update: the planner's choice for one stage. */
const microBatchesAlone = 2

function passesWords(): string {
  const { recipe, heldOutPercent } = draft.value
  const trained = (preview.value?.samples ?? 0) * (1 - heldOutPercent / 100)
  const samples = recipe.updates * recipe.microBatch * microBatchesAlone
  if (trained < 1) return `${count(samples)} samples on one PC`
  return `${count(samples)} samples on one PC: about ${few(samples / trained)} passes over your data. With more PCs, each cluster makes as many.`
}

export function RecipeStep(): JSX.Element {
  return (
    <>
      <Card title="Training">
        <ul class="tools">
          <Row id="job-name" name="Name" note="What friends see before they join.">
            <input
              class="input job-name"
              id="job-name"
              maxLength={80}
              value={draft.value.name}
              onInput={(event) => {
                change({ name: event.currentTarget.value })
              }}
            />
          </Row>
          <Row id="updates" name="Length" note={passesWords()}>
            <NumberInput
              id="updates"
              value={draft.value.recipe.updates}
              unit="updates"
              bounds={{ least: 1, most: 1_000_000_000, whole: true }}
              onValue={(updates) => {
                changeRecipe({ updates })
              }}
            />
          </Row>
        </ul>
      </Card>
      <Advanced />
    </>
  )
}
