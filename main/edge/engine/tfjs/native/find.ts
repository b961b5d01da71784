/** Where TensorFlow's C library and Node's headers are on this machine, and what the compiler is told of them. */
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { InvalidInputError } from '../../../../../shared/errors.ts'

export interface Tensorflow {
  /** Holds `tensorflow/c/c_api.h`. */
  readonly include: string
  /** The C library and the framework it stands on. */
  readonly libraries: readonly string[]
}

/** `_cc` in a Python wheel, without in the C archive; with a version on Linux and macOS. */
const libraryNames = [
  /^libtensorflow(_cc)?(\.so(\.[\d.]+)?|(\.[\d.]+)?\.dylib)$/,
  /^libtensorflow_framework(\.so(\.[\d.]+)?|(\.[\d.]+)?\.dylib)$/,
]

/**
 * A TensorFlow in a folder: the package of a Python wheel or the folder it lies in, or an unpacked C archive.
 *
 * @throws InvalidInputError that says what is missing
 */
export function findTensorflow(folder: string): Tensorflow {
  const places = [folder, join(folder, 'tensorflow')].map((place) => resolve(place))
  const include = places
    .map((place) => join(place, 'include'))
    .find((place) => {
      return existsSync(join(place, 'tensorflow/c/eager/c_api.h'))
    })
  if (include === undefined)
    throw new InvalidInputError(
      `there is no include/tensorflow/c/eager/c_api.h in ${folder} or its tensorflow`,
    )
  const lists = places
    .flatMap((place) => [place, join(place, 'lib')])
    .filter((place) => existsSync(place))
    .map((place) => readdirSync(place).map((file) => join(place, file)))
  const libraries = libraryNames.map((name) =>
    lists.flat().find((file) => name.test(file.slice(dirname(file).length + 1))),
  )
  const found = libraries.filter((library) => library !== undefined)
  if (found.length < libraries.length)
    throw new InvalidInputError(
      `${folder} holds no C library of TensorFlow (libtensorflow_cc and libtensorflow_framework): ` +
        'take a Python wheel of 2.12 or later, or the C archive',
    )
  return { include, libraries: found }
}

/** The folder of `node_api.h`: beside the Node that runs, or the system's; Node-API is the same in all. */
export function findNodeHeaders(node: string): string {
  const places = [
    join(dirname(realpathSync(node)), '../include/node'),
    '/usr/local/include/node',
    '/usr/include/node',
  ]
  const found = places.find((place) => existsSync(join(place, 'node_api.h')))
  if (found === undefined)
    throw new InvalidInputError(
      'there is no node_api.h on this machine; install the headers of Node (libnode-dev)',
    )
  return found
}

export interface AddonBuild {
  readonly tensorflow: Tensorflow
  readonly headers: string
  readonly sources: readonly string[]
  readonly output: string
  /** Version of Node-API. */
  readonly nodeApi: number
}

/** As the package's binding.gyp has it; the addon then finds the libraries where they are. */
export function compilerArguments({ tensorflow, headers, sources, output, nodeApi }: AddonBuild): string[] {
  const rest = process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : []
  return [
    '-std=c++17',
    '-O2',
    '-fPIC',
    '-shared',
    `-DNAPI_VERSION=${nodeApi}`,
    ...[tensorflow.include, headers].map((folder) => `-I${folder}`),
    ...sources,
    '-o',
    output,
    ...tensorflow.libraries,
    ...new Set(tensorflow.libraries.map((library) => `-Wl,-rpath,${dirname(library)}`)),
    ...rest,
  ]
}
