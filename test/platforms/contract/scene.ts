/** What the contract's tests begin with: an account linked and online, and someone to talk to. */
import type { Test } from 'tap'
import type { LinkStep, Platform } from '../../../actors/ports/platform.ts'
import { RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { Failure } from '../../../machines/model/protocol.ts'
import type { Ability, Account, ContractHarness, Peer } from './harness.ts'
import { type Linked, patience, type Run, run, Store } from './recorder.ts'

export interface Scene {
  readonly account: Account
  readonly peer: Peer
  readonly store: Store
  /** The session opened first. */
  readonly first: Run
  /** Opens another session over the same store, as a reconnecting service does. */
  reopen(): Promise<Run>
}

export async function scene(t: Test, harness: ContractHarness): Promise<Scene> {
  const account = await harness.account()
  const peer = await harness.peer(account)
  const store = new Store(await linked(harness.platform, account))
  const open = async () => {
    const opened = run(harness.platform, store)
    t.teardown(() => opened.stop())
    await opened.reported('opened')
    return opened
  }
  return { account, peer, store, first: await open(), reopen: open }
}

/** Links with everything the account knows. */
export async function linked(platform: Platform, account: Account): Promise<Linked> {
  const attempt = await platform.startLink(account.method, account.fields, patience())
  const step =
    attempt.step.kind === 'code' && account.code
      ? await attempt.answer({ kind: 'code', code: await account.code() }, patience())
      : attempt.step
  await attempt.close()
  return accountOf(step)
}

export function accountOf(step: LinkStep): Linked {
  if (step.kind !== 'done') throw new Error(`the link is not done: ${JSON.stringify(step)}`)
  return { identity: step.account, secrets: step.secrets }
}

/** Runs the test if the harness has all of these abilities, else reports it as skipped with the reason. */
export function able(
  t: Test,
  harness: ContractHarness,
  abilities: readonly Ability[],
  name: string,
  test: (t: Test) => Promise<void>,
) {
  const reason = abilities.map((ability) => harness.absent[ability]).find((text) => text)
  return reason ? t.test(name, { skip: reason }, async () => {}) : t.test(name, test)
}

/** A member that the harness must have, since it did not say why it is absent. */
export function need<Value>(value: Value | undefined, ability: Ability): Value {
  if (value === undefined) throw new Error(`the harness lacks "${ability}" and does not say why`)
  return value
}

/** A text no other test writes. */
export const words = (about: string) => `${about} ${crypto.randomUUID().slice(0, 8)}`

export const perform = (
  { session }: Run,
  operation: Operation,
  requestId: string = crypto.randomUUID(),
) => session.perform(operation, requestId, patience())

export const sending = (chat: string, text: string, more: object = {}): Operation => ({
  kind: 'send',
  chat,
  content: { kind: 'text', text, entities: [] },
  ...more,
})

/** Sends a text and resolves with the message. */
export async function sent(run: Run, chat: string, text: string, more: object = {}) {
  const result = await perform(run, sending(chat, text, more))
  if (result.kind !== 'message') throw new Error('a send resolves with the message')
  return result.message
}

/** The failure that the effect ends with; any other outcome is an error. */
export async function refusalOf(effect: Promise<unknown>): Promise<Failure> {
  const outcome = await effect.then(
    (value) => ({ value }),
    (cause: unknown) => ({ cause }),
  )
  if ('value' in outcome) throw new Error(`not refused: ${JSON.stringify(outcome.value)}`)
  if (outcome.cause instanceof RequestFailed) return outcome.cause.failure
  throw outcome.cause
}
