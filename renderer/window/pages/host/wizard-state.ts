/** What the wizard holds while a person goes through it; it survives a look at another page. */
import { computed, signal } from '@preact/signals'
import type { DataSource } from '../../../../shared/job/data.ts'
import type { DataPreview, HostForecast, ModelCard } from '../../../../shared/messages/cards.ts'
import { createAsker } from '../../ask.ts'
import {
  candidates,
  defaultRecipe,
  emptyDraft,
  jobFileOf,
  pathOf,
  sourceOf,
  suggestedName,
} from '../../words/host-draft.ts'
import type { HostDraft, RecipeDraft } from '../../words/host-draft.ts'

export const steps = ['Data', 'Model', 'Recipe', 'Who may join', 'Forecast and invite'] as const

export const step = signal(0)
export const draft = signal<HostDraft>(emptyDraft)
export const models = signal<readonly ModelCard[] | null>(null)
export const preview = signal<DataPreview | null>(null)
export const forecast = signal<HostForecast | null>(null)
export const inspecting = createAsker()
export const forecasting = createAsker()
/** An ended job that the host has put aside to make another. */
export const putAsideJob = signal('')

export const chosenModel = computed(() => models.value?.find(({ name }) => name === draft.value.model))
export const jobFile = computed(() => jobFileOf(draft.value))

export function change(part: Partial<HostDraft>): void {
  draft.value = { ...draft.value, ...part }
  forecast.value = null
}

export function changeRecipe(part: Partial<RecipeDraft>): void {
  change({ recipe: { ...draft.value.recipe, ...part } })
}

export async function loadModels(): Promise<void> {
  if (models.peek() !== null) return
  const answer = await inspecting.ask(() => window.rookery.models({}))
  if (answer !== undefined) models.value = answer
}

/** Take a model and the settings that suit it. */
export function takeModel(card: ModelCard): void {
  change({ model: card.name, recipe: defaultRecipe(card) })
}

/** Look into the data with the chosen model. The answer of an older look is dropped. */
export async function inspect(): Promise<void> {
  const { source, model } = draft.peek()
  preview.value = null
  if (source === null || model === '') return
  const seen = await inspecting.ask(() => window.rookery.inspectData({ source, model }))
  if (seen !== undefined && draft.peek().source === source && draft.peek().model === model)
    preview.value = seen
}

/** New data: the smallest model that it fits is taken, until a person chooses another. */
export async function takeSource(source: DataSource): Promise<void> {
  change({ source, name: draft.peek().name === '' ? suggestedName(pathOf(source)) : draft.peek().name })
  preview.value = null
  await loadModels()
  for (const card of candidates(source.type, models.peek() ?? [])) {
    if (draft.peek().source !== source) return
    takeModel(card)
    await inspect()
    if (preview.peek() !== null) return
  }
}

export async function chooseData(kind: 'data' | 'folder', read: (path: string) => DataSource): Promise<void> {
  const chosen = await inspecting.ask(() => window.rookery.chooseFile({ kind }))
  if (chosen?.path != null) await takeSource(read(chosen.path))
}

/** Read what was chosen in another way. */
export async function readAs(type: DataSource['type']): Promise<void> {
  const { source } = draft.peek()
  if (source !== null && source.type !== type) await takeSource(sourceOf(type, pathOf(source)))
}

export async function foresee(): Promise<void> {
  const job = jobFile.peek()
  if (job === null || forecast.peek() !== null) return
  const seen = await forecasting.ask(() => window.rookery.forecastHost({ job, peers: 8 }))
  if (seen !== undefined && jobFile.peek() === job) forecast.value = seen
}

export function startOver(): void {
  step.value = 0
  draft.value = emptyDraft
  preview.value = null
  forecast.value = null
  inspecting.clear()
  forecasting.clear()
}
