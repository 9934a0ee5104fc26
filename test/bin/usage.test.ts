/** Commands of the operator that are asked for help, or not understood, do nothing: they never get as far as the database. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const launcher = join(import.meta.dirname, '../../bin/chapar.mjs')
const { PATH, HOME } = process.env
/** Nothing answers there: what gets so far says so. */
const env = { PATH, HOME, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }

function chapar(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...words], {
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const usages = {
  drain: /^usage: node bin\/chapar\.mjs drain NODE/,
  undrain: /^usage: [\s\S]* undrain NODE\n/,
  move: /^usage: [\s\S]* move ACCOUNT --anywhere\n/,
  migrate: /^usage: node bin\/chapar\.mjs migrate --contract \[--wait \[SECONDS\]\]\n$/,
  nodes: /^usage: node bin\/chapar\.mjs nodes\n$/,
  unlock: /^usage: node bin\/chapar\.mjs unlock \+14155550123\n$/,
  'drop-signing-keys': /^usage: node bin\/chapar\.mjs drop-signing-keys\n$/,
}

for (const [command, usage] of Object.entries(usages)) {
  t.test(`${command} tells how it is used`, async (t) => {
    t.match(chapar(command, '--help'), { status: 0, stdout: usage, stderr: /^$/ })
    t.match(chapar(command, 'a', 'b', 'c', '-x'), { status: 2, stdout: /^$/, stderr: usage })
  })
}

t.test('every command of the operator is among them', async (t) => {
  const listed = [...chapar('--help').stdout.matchAll(/^ {2}(\S+) +\S/gm)].map(([, name]) => name)
  // These take no arguments, and are asked for below.
  const others = ['start', 'build-panel']
  t.same(listed.toSorted(), [...Object.keys(usages), ...others].toSorted())
})

t.test('words that cannot be meant are refused before anything is looked up', async (t) => {
  const wrong = [
    ['drain'],
    ['drain', '--wait'],
    ['drain', 'first', '--wait', 'long'],
    ['undrain', 'first', 'second'],
    ['move', 'first', 'second'],
    ['move', '7'],
    ['unlock'],
    ['unlock', 'nobody'],
    ['unlock', '+14155550123', '+14155550124'],
    ['migrate', '--contracts'],
  ]
  for (const words of wrong) t.match(chapar(...words), { status: 2, stdout: '' }, words.join(' '))
  t.match(chapar('drain', 'first'), { stderr: /^chapar: the database does not answer\n$/ })
})

t.test('the launcher lists its commands, and starts nothing for a question', async (t) => {
  const listed =
    /^usage: chapar COMMAND [\s\S]*\n {2}start +the service[\s\S]*\n {2}drop-signing-keys /
  for (const words of [['--help'], ['-h'], ['help'], ['start', '--help']]) {
    t.match(chapar(...words), { status: 0, stdout: listed, stderr: /^$/ }, words.join(' '))
  }
  const wrong = { status: 2, stdout: /^$/ }
  t.match(chapar('strat'), {
    ...wrong,
    stderr: /^chapar: there is no command strat\nusage: chapar COMMAND /,
  })
  for (const word of ['production', '--port=9000']) {
    t.match(chapar('start', word), {
      ...wrong,
      stderr: /^chapar: start takes no arguments: what is to be set are environment variables\n/,
    })
  }
  t.match(chapar(), { ...wrong, stderr: /^chapar: a command is missing\nusage: chapar COMMAND / })
})
