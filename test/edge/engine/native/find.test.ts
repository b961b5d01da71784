/** Finding a TensorFlow to build against. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compilerArguments, findTensorflow } from '../../../../main/edge/engine/tfjs/native/find.ts'
import { InvalidInputError } from '../../../../shared/errors.ts'

describe('a TensorFlow to build against', () => {
  let folder: string
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'rookery-tensorflow-')) }) // prettier-ignore
  afterEach(() => { rmSync(folder, { recursive: true }) }) // prettier-ignore

  const put = (...files: string[]) => {
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), '')
    }
  }

  it('is the package of a Python wheel, or the folder that it lies in', () => {
    const package_ = join(folder, 'tensorflow')
    put('tensorflow/include/tensorflow/c/eager/c_api.h')
    put('tensorflow/libtensorflow_cc.so.2', 'tensorflow/libtensorflow_framework.so.2')
    const wanted = {
      include: join(package_, 'include'),
      libraries: ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'].map((file) =>
        join(package_, file),
      ),
    }
    expect(findTensorflow(folder)).toEqual(wanted)
    expect(findTensorflow(package_)).toEqual(wanted)
  })

  it('is an unpacked C archive', () => {
    put(
      'include/tensorflow/c/eager/c_api.h',
      'lib/libtensorflow.so.2.9.1',
      'lib/libtensorflow_framework.so.2.9.1',
    )
    expect(findTensorflow(folder).libraries).toEqual(
      ['libtensorflow.so.2.9.1', 'libtensorflow_framework.so.2.9.1'].map((file) => join(folder, 'lib', file)),
    )
  })

  it('is refused without headers, and without the C library, which older wheels lack', () => {
    expect(() => findTensorflow(folder)).toThrow(InvalidInputError)
    put('include/tensorflow/c/eager/c_api.h', 'libtensorflow_framework.so.2')
    expect(() => findTensorflow(folder)).toThrow(/2\.12 or later/)
  })

  it('is found again by the addon, wherever it lies', () => {
    put('include/tensorflow/c/eager/c_api.h', 'lib/libtensorflow.so.2', 'lib/libtensorflow_framework.so.2')
    const tensorflow = findTensorflow(folder)
    const given = compilerArguments({
      tensorflow,
      headers: '/h',
      sources: ['/a.cc'],
      output: '/o.node',
      nodeApi: 8,
    })
    expect(given.filter((one) => one.includes('rpath'))).toEqual([`-Wl,-rpath,${join(folder, 'lib')}`])
    expect(given).toEqual(
      expect.arrayContaining([`-I${join(folder, 'include')}`, '-I/h', '/a.cc', '/o.node']),
    )
  })
})
