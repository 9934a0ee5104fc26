/** An account of the test network that is linked and can be opened again and again, and somebody who writes to it. */
import type { Test } from 'tap'
import type { TelegramOptions } from '../../../src/platforms/telegram/platform.ts'
import type { Person } from '../../support/telegram-dc/people.ts'
import type { Account } from '../contract/harness.ts'
import { patience, type Run, run, Store } from '../contract/recorder.ts'
import { linked } from '../contract/scene.ts'
import type { Stage } from './stage.ts'

export interface Live {
  readonly person: Person
  readonly friend: Person
  readonly store: Store
  open(account?: { readonly recoverChannels?: boolean }): Promise<Run>
  /** Opens, and resolves once the network tells what happens. */
  listen(): Promise<Run>
  write(text: string): number
}

export async function live(
  t: Test,
  stage: Stage,
  options: Partial<TelegramOptions> = {},
): Promise<Live> {
  const { network } = stage
  const [person, friend] = [network.person(), network.person()]
  const account: Account = {
    native: `${person.id}`,
    method: 'phone',
    fields: { phone: person.phone },
    code: async () => person.code,
  }
  const store = new Store(await linked(stage.platform(), account))
  const open = async (account: { recoverChannels?: boolean } = {}): Promise<Run> => {
    const opened = run(stage.platform(options), store, account)
    t.teardown(() => opened.stop())
    await opened.reported('opened')
    return opened
  }
  const listen = async () => {
    const opened = await open()
    // It has asked what it missed when it answers.
    await opened.session.probe(patience())
    return opened
  }
  const write = (message: string) => network.delivery.send(friend, person, { message })
  return { person, friend, store, open, listen, write }
}
