/** Steps: nothing is lost and nothing comes twice over a restart of the service, or because an answer was lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/client.ts'
import { wordsOf } from '../passages.ts'
import type { Stage } from '../stage.ts'
import type { Step } from './step.ts'

/** How a program is made to send words with a number. */
export interface Voice {
  /** Resolves whether it says that they were sent; with nothing where it says neither. */
  readonly say: (stage: Stage, number: number) => Promise<boolean | undefined>
  /** It speaks by itself, and not because somebody has written to it: it can begin while the service is away. */
  readonly isOwn: boolean
  readonly patience: number
}

/** Programs try again within that time, or not at all. */
const QUIET = 3_000
/** Other steps speak of kettles with one digit. */
const FIRST = 10
const last = new WeakMap<Stage, number>()

/** Agents answer by the highest number that they know, so each is higher than all before. */
function nextNumber(stage: Stage): number {
  const number = (last.get(stage) ?? FIRST - 1) + 1
  last.set(stage, number)
  return number
}

const wordsFor = (number: number) => `Kettle ${number}`

interface Said {
  readonly words: string
  readonly isSaid: Promise<boolean | undefined>
}

function begin(stage: Stage, { say }: Voice, number = nextNumber(stage)): Said {
  const isSaid = say(stage, number)
  // It is awaited later, and may fail before.
  isSaid.catch(() => undefined)
  return { words: wordsFor(number), isSaid }
}

/** Waits until the words have arrived, or until the program has given up what nobody told it to be sent. */
async function settle(stage: Stage, { words, isSaid }: Said, { patience }: Voice): Promise<void> {
  const said = await isSaid
  const hasGivenUp = async () => {
    const before = stage.passages.count(words)
    if (said === true || before.told > 0) return false
    if (said === undefined && before.asked === 0) return false
    await sleep(QUIET)
    return stage.passages.count(words).asked === before.asked
  }
  const isOver = async () => (await stage.timesSeen(words)) > 0 || (await hasGivenUp())
  await until(isOver, patience).catch(() => {
    const passed = JSON.stringify(stage.passages.count(words))
    throw new Error(`"${words}" does not arrive; the program said ${said}, and of it ${passed}`)
  })
}

function expectTimes(actual: number, [least, most]: readonly [number, number], about: string) {
  if (actual >= least && actual <= most) return
  throw new Error(`${about} ${actual} times, not ${least} to ${most}`)
}

/** What was answered with yes has arrived, nothing more often than the program asked for it, and it heard nothing twice. */
async function expectHonest(stage: Stage, { words }: Said): Promise<number> {
  const { asked, told } = stage.passages.count(words)
  const seen = await stage.timesSeen(words)
  expectTimes(seen, [told, asked], `"${words}", which was answered and asked for so often, arrived`)
  const heard = stage.bot.updates.filter((update) => wordsOf(words).test(JSON.stringify(update)))
  expectTimes(heard.length, [0, 1 + stage.bot.untaken], `the program heard "${words}"`)
  return seen
}

async function spoken(stage: Stage, voice: Voice): Promise<Said> {
  const said = begin(stage, voice)
  await settle(stage, said, voice)
  expectTimes(await stage.timesSeen(said.words), [1, 1], `"${said.words}" arrived`)
  return said
}

export const overRestart = (name: string, voice: Voice): Step => [
  `${name} over a restart of the service`,
  async (stage) => {
    const before = await spoken(stage, voice)
    const begun = begin(stage, voice)
    if (!voice.isOwn) await begun.isSaid
    const restarting = stage.restart()
    const away = voice.isOwn ? [begin(stage, voice)] : []
    await restarting
    await Promise.all([begun, ...away].map((said) => settle(stage, said, voice)))
    const after = await spoken(stage, voice)
    await sleep(QUIET)
    const all = [before, begun, ...away, after]
    for (const said of all) {
      const seen = await expectHonest(stage, said)
      stage.doubles.sent++
      if (seen > 1) stage.doubles.arrived++
      if (seen === 0) stage.doubles.abandoned++
    }
    stage.doubles.received = stage.passages.doubled.length
    expectTimes(stage.doubles.received, [0, 0], 'updates were handed over once more')
  },
]

/** The service did what it was asked to: whether that is repeated is up to the program. */
export const lostAnswer = (voice: Voice): Step => [
  'lost answer to a send',
  async (stage) => {
    const number = nextNumber(stage)
    stage.passages.loseAnswer(wordsFor(number))
    const said = begin(stage, voice, number)
    const { words } = said
    await until(async () => (await stage.timesSeen(words)) > 0, voice.patience)
    await said.isSaid
    let { asked } = stage.passages.count(words)
    for (let before = 0; before < asked; { asked } = stage.passages.count(words)) {
      before = asked
      await sleep(QUIET)
    }
    await expectHonest(stage, said)
    expectTimes(stage.passages.count(words).told, [0, asked - 1], `"${words}" was answered`)
    stage.doubles.repeated = Math.max(stage.doubles.repeated, asked - 1)
  },
]

/** A handler of the program's own answers `/echo`. */
export const echoing: Voice = {
  say: async (stage, number) => {
    await stage.write(`/echo ${wordsFor(number)}`)
    return undefined
  },
  isOwn: false,
  patience: 30_000,
}

export const calling: Voice = {
  say: (stage, number) =>
    stage.send('sendMessage', { text: wordsFor(number) }).then(
      () => true,
      () => false,
    ),
  isOwn: true,
  patience: 20_000,
}

/** Of what answers and sends on its own. */
export const restartSteps: readonly Step[] = [
  overRestart('answers', echoing),
  overRestart('messages', calling),
  lostAnswer(calling),
]
