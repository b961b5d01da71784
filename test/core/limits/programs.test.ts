import { expect, it } from 'vitest'
import { programsThatRun } from '../../../main/core/limits/programs.ts'

it('finds programs however people write them', () => {
  const running = ['/usr/lib/firefox/firefox', 'Blender.exe', 'C:\\Games\\doom.EXE', 'Photos.app', 'bash']
  expect(programsThatRun(['Firefox', 'blender', 'DOOM.exe', 'photos', 'vlc', ' bash '], running)).toEqual([
    ...['Firefox', 'blender', 'DOOM.exe', 'photos', ' bash '],
  ])
})

it('takes no part of a name for the whole', () => {
  expect(programsThatRun(['fire'], ['firefox'])).toEqual([])
})
