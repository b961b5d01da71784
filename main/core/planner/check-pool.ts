/** Is this a pool, and is this a profile, that can be planned with? The gate for POOL.json and PROFILE.json. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { type ModelProfile, modelProfile, type Pool, pool } from '../../../shared/plan/pool.ts'
import { parsed } from '../../../shared/parsed.ts'

/** A pool whose peers have different ids and whose links join two of them. @throws InvalidInputError */
export function checkPool(raw: unknown): Pool {
  const checked = parsed<Pool>(pool, 'pool', raw)
  const ids = new Set<string>()
  for (const { id } of checked.peers) {
    if (ids.has(id)) throw new InvalidInputError(`pool: two peers have the id "${id}"; give each its own`)
    ids.add(id)
  }
  for (const [index, { between }] of checked.links.entries()) {
    const unknown = between.find((id) => !ids.has(id))
    if (unknown !== undefined)
      throw new InvalidInputError(
        `pool: links.${index} names "${unknown}", which is no PC of the pool; add it to the peers or take the link out`,
      )
    if (between[0] === between[1])
      throw new InvalidInputError(
        `pool: links.${index} joins "${between[0]}" to itself; name two different PCs`,
      )
  }
  return checked
}

/** A profile with some work in it: without FLOPs there is no rate to plan for. @throws InvalidInputError */
export function checkProfile(raw: unknown): ModelProfile {
  const checked = parsed<ModelProfile>(modelProfile, 'profile', raw)
  if (checked.layers.every((layer) => layer.flopsPerSample === 0))
    throw new InvalidInputError('profile: no layer has flopsPerSample above 0; give those of at least one')
  return checked
}
