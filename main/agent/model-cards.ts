/** The models that come with Rookery, as a person chooses among them. */
import { recipe } from '../../shared/job/recipe.ts'
import type { ModelCard } from '../../shared/messages/cards.ts'
import type { ModelGraph, Task } from '../../shared/model/graph.ts'
import { wholeModel } from '../core/job/job-summary.ts'
import { presetNames, resolveModel } from './models.ts'

const taskInWords: Readonly<Record<Task, string>> = {
  classify: 'tells classes apart',
  regress: 'predicts a number',
  'next-token': 'continues a text',
  'masked-token': 'fills gaps in a text',
}

function inputInWords({ input }: ModelGraph): string {
  if (input.type === 'tokens') return `${input.length} tokens`
  const sizes = input.shape.filter((size, index) => index < input.shape.length - 1 || size !== 1)
  const [channels] = input.shape.slice(-1)
  if (input.shape.length === 3 && channels === 3) return `${sizes.slice(0, 2).join('×')} colour pictures`
  return `${sizes.join('×')} values`
}

export async function modelCards(): Promise<ModelCard[]> {
  const names = await presetNames()
  return Promise.all(
    names.map(async (name) => {
      const graph = await resolveModel(name)
      const { parameters, memoryBytes } = wholeModel(graph, recipe.parse({}))
      return { name, task: taskInWords[graph.task], parameters, memoryBytes, input: inputInWords(graph) }
    }),
  )
}
