/** Reports on their way into the log, whatever happens to commits, sessions and the claim: order, fence, acknowledgement. */
import t, { type Test } from 'tap'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Appended, UpdateLog } from '../../../actors/ports/ports.ts'
import { failed, OwnershipLost } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { FakeCredentialStore } from '../../support/fakes.ts'
import fc from '../../support/fast-check.ts'
import { CredentialRig, deleted } from './rig.ts'

type Outcome = 'stored' | 'unavailable' | 'failed' | 'late'

type Step =
  | { readonly kind: 'report'; readonly events: number }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'lose' }
  | { readonly kind: 'claim' }

interface Report {
  readonly number: number
  readonly session: object
  readonly keys: readonly string[]
}

const outcomes = fc.array(
  fc.constantFrom<Outcome[]>('stored', 'stored', 'stored', 'unavailable', 'failed', 'late'),
  { minLength: 1, maxLength: 12 },
)
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('report'), events: fc.nat(3) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait'), milliseconds: fc.nat(600) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('lose', 'claim') }) },
  ) as fc.Arbitrary<Step>,
  { minLength: 5, maxLength: 40 },
)

t.test('nothing is acknowledged or passed over before it is stored', async (t) => {
  let shared = 0
  const property = fc.asyncProperty(steps, outcomes, async (steps, outcomes) => {
    const scene = new Scene(t, outcomes)
    await scene.begin()
    for (const step of steps) await scene.take(step)
    await scene.end()
    shared += scene.shared
  })
  await fc.assert(property, { numRuns: 150 })
  t.ok(shared > 50, `${shared} commits held several reports`)
})

/** How the session learns, before it is told how to end, that the account is lost. */
const losses: Readonly<Record<string, (report: SessionReport) => Promise<void>>> = {
  'events that are refused': (report) => report.events([deleted('a')], 'c1'),
  'secrets that are refused': (report) => report.secrets('moved on'),
}

for (const [what, tell] of Object.entries(losses)) {
  t.test(`${what} are so once the session was told how to end`, async (t) => {
    const answer = Promise.withResolvers<boolean>()
    const { port } = new FakeCredentialStore(t, {
      saveSecrets: () => Promise.reject(new OwnershipLost()),
    })
    const rig: CredentialRig = new CredentialRig(t, {
      store: port,
      lost: () => {
        actor.effects.leave(answer.promise)
        actor.stop()
      },
    })
    const actor = await rig.online()
    const { session } = rig.platform
    const happened: unknown[] = []
    session.onClose = async () => void happened.push('closed')
    rig.updates.onAppend = async () => ({ stored: false })
    tell(session.report).catch((cause: unknown) => happened.push(cause))
    await settled()
    session.report.events([deleted('later')], 'c2').catch(() => happened.push('too late'))
    await settled()
    t.same(happened, [])
    answer.resolve(true)
    await settled()
    t.same(session.closings, [{ signOut: true }])
    const [first, ...others] = happened
    t.equal(first, 'closed')
    t.ok(others.some((cause) => cause instanceof OwnershipLost))
    t.ok(others.includes('too late'))
  })
}

/** What the session waits for while the account is lost, and what fails then for another reason. */
const writes: Readonly<Record<string, (report: SessionReport) => Promise<void>>> = {
  'a report that is given up': (report) => report.events([deleted('a')], 'c1'),
  'secrets that cannot be stored': (report) => report.secrets('moved on'),
}

for (const [what, tell] of Object.entries(writes)) {
  t.test(`${what} meanwhile: refused once the session was told how to end`, async (t) => {
    const write = Promise.withResolvers<never>()
    const { port } = new FakeCredentialStore(t, { saveSecrets: () => write.promise })
    const rig = new CredentialRig(t, { store: port })
    const actor = await rig.online()
    const { session } = rig.platform
    const happened: string[] = []
    session.onClose = async () => void happened.push('closed')
    rig.updates.onAppend = () => write.promise
    tell(session.report).catch(() => happened.push('refused'))
    await settled()
    const answer = Promise.withResolvers<boolean>()
    actor.effects.leave(answer.promise)
    actor.stop()
    await settled()
    write.reject(new Error('the row cannot be written'))
    await settled()
    t.same(happened, [])
    answer.resolve(true)
    await settled()
    t.same(session.closings, [{ signOut: true }])
    t.same(happened, ['closed', 'refused'])
  })
}

class Scene {
  readonly #rig: CredentialRig
  readonly #outcomes: readonly Outcome[]
  readonly #reports: Report[] = []
  readonly #stored = new Set<string>()
  readonly #late: (() => void)[] = []
  readonly #broken: string[] = []
  #appends = 0
  #newest = -1
  #unanswered = 0
  #isClaimed = false
  /** An append has told the credential that it is another node's. */
  #isFenced = false
  #isOver = false
  /** Commits of several reports. */
  shared = 0

  constructor(t: Test, outcomes: readonly Outcome[]) {
    this.#rig = new CredentialRig(t)
    this.#outcomes = outcomes
    this.#rig.updates.onAppend = (batch) => this.#append(batch)
  }

  async begin(): Promise<void> {
    await this.#rig.online()
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'report') this.#report(step.events)
    if (step.kind === 'lose') this.#rig.platform.session.report.lost('network')
    if (step.kind === 'claim') this.#isClaimed = true
    if (step.kind !== 'wait') return
    for (const finish of this.#late.splice(0)) finish()
    await this.#rig.clock.advance(step.milliseconds)
  }

  /** From now on every commit succeeds at once. */
  async end(): Promise<void> {
    this.#isOver = true
    for (const finish of this.#late.splice(0)) finish()
    await this.#rig.clock.advance(2_000)
    await settled()
    this.#holds(this.#unanswered === 0, `${this.#unanswered} reports got no answer`)
    if (this.#broken.length > 0) throw new Error(this.#broken.join(', '))
  }

  /** Told at the end, because most of the code that finds a broken rule runs where errors are caught. */
  #holds(isTrue: boolean, rule: string): void {
    if (!isTrue) this.#broken.push(rule)
  }

  #report(events: number): void {
    const { session } = this.#rig.platform
    const number = this.#reports.length
    const keys = Array.from({ length: events }, (_, place) => `${number}.${place}`)
    this.#reports.push({ number, session, keys })
    this.#unanswered++
    session.report
      .events(keys.map(deleted), { number })
      .then(
        () => {
          this.#holds(
            isIn(this.#stored, keys),
            `report ${number} was acknowledged before it was stored`,
          )
        },
        () => undefined,
      )
      .finally(() => this.#unanswered--)
  }

  async #append({ happenings, checkpoint }: Batch): Promise<Appended> {
    const outcome = this.#isOver
      ? 'stored'
      : this.#outcomes[this.#appends++ % this.#outcomes.length]
    if (outcome === 'late') await new Promise<void>((resolve) => this.#late.push(resolve))
    if (outcome === 'unavailable') throw failed('unavailable')
    if (outcome === 'failed') throw new Error('deadlock detected')
    this.#holds(!this.#isFenced, 'a fenced owner went on')
    if (this.#isClaimed) {
      this.#isFenced = true
      return { stored: false }
    }
    this.#store(happenings.map(({ sourceKey }) => sourceKey))
    const { number } = checkpoint as { number: number }
    const { session } = this.#reports[number] ?? {}
    const covered = this.#reports.filter((one) => one.number <= number && one.session === session)
    for (const { keys } of covered) {
      this.#holds(isIn(this.#stored, keys), `the checkpoint ${number} is past what is stored`)
    }
    return { stored: true, count: happenings.length }
  }

  #store(keys: readonly string[]): void {
    const numbers = new Set(keys.map((key) => Number.parseInt(key, 10)))
    if (numbers.size > 1) this.shared++
    for (const key of keys) {
      const place = this.#reports.flatMap((report) => report.keys).indexOf(key)
      this.#holds(place > this.#newest, `${key} was stored out of its order`)
      this.#newest = place
      this.#stored.add(key)
    }
  }
}

type Batch = Parameters<UpdateLog['append']>[0]

const isIn = (stored: ReadonlySet<string>, keys: readonly string[]) =>
  keys.every((key) => stored.has(key))
