/** The one text of a value that two machines sign and check alike. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** JSON with the keys of every object in the order of their UTF-16 units and no blanks. */
export function canonicalJson(value: Json): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
