import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { npmEnvironment } from '../support/installed-project.ts'
import { read, root } from '../tidy/source-files.ts'

interface Instruction {
  readonly name: string
  readonly rest: string
}

/** What a stage leaves: its files, below a folder of ours, and what a process in it gets. */
export interface Stage {
  readonly files: string
  readonly base: string
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly entrypoint: readonly string[]
}

/** It makes the same packages as `.ci/run` does; here those of the checkout do. */
const install = 'npm ci --ignore-scripts'

/** Does what the stages say, in folders instead of images; what the last one is made of. */
export function runDockerfile(path: string, place: string): Stage {
  const stages = new Map<string, Stage>()
  for (const [at, instructions] of stagesOf(read(path)).entries()) {
    const [from, ...rest] = instructions
    const [base = '', , name = 'last'] = from?.rest.split(' ') ?? []
    const files = join(place, `stage-${at}`)
    let stage: Stage = { files, base, workdir: '/', env: {}, user: 'root', entrypoint: [] }
    for (const instruction of rest) stage = run(instruction, stage, stages)
    stages.set(name, stage)
  }
  const last = stages.get('last')
  assert.ok(last !== undefined)
  return last
}

function stagesOf(text: string): readonly (readonly Instruction[])[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const stages: Instruction[][] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? assert.fail(line)
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, rest })
  }
  return stages
}

function run({ name, rest }: Instruction, stage: Stage, stages: ReadonlyMap<string, Stage>): Stage {
  const words = rest.split(' ')
  const here = join(stage.files, stage.workdir)
  switch (name) {
    case 'WORKDIR':
      mkdirSync(join(stage.files, rest), { recursive: true })
      return { ...stage, workdir: rest }
    case 'COPY':
      copy(words, stage, stages)
      return stage
    case 'RUN':
      if (rest === install) symlinkSync(join(root, 'node_modules'), join(here, 'node_modules'))
      else execFileSync('sh', ['-c', rest], { cwd: here, env: npmEnvironment(), stdio: 'pipe' })
      return stage
    case 'ENV':
      return { ...stage, env: Object.fromEntries(words.map((word) => word.split('='))) }
    case 'USER':
      return { ...stage, user: rest }
    case 'ENTRYPOINT':
      return { ...stage, entrypoint: JSON.parse(rest) as string[] }
    default:
      assert.ok(['EXPOSE', 'CMD'].includes(name), name)
      return stage
  }
}

/** As Docker does: of a folder its content, and into a folder if the target ends in a slash. */
function copy(words: readonly string[], stage: Stage, stages: ReadonlyMap<string, Stage>): void {
  const [, origin] = /^--from=(.*)$/.exec(words[0] ?? '') ?? []
  const from = origin === undefined ? root : (stages.get(origin)?.files ?? assert.fail(origin))
  const sources = origin === undefined ? words.slice(0, -1) : words.slice(1, -1)
  const target = words.at(-1) ?? ''
  for (const source of sources) {
    const path = join(from, source.replaceAll(/\[(.)\]/g, '$1'))
    // A pattern may fit nothing.
    if (source.includes('[') && !existsSync(path)) continue
    const isFile = statSync(path).isFile()
    const into = isFile && target.endsWith('/') ? join(target, basename(source)) : target
    cpSync(path, join(stage.files, resolve(stage.workdir, into)), { recursive: true })
  }
}
