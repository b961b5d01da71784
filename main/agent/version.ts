/** The version of this program, as package.json says. */
import manifest from '../../package.json' with { type: 'json' }

export const { version } = manifest
