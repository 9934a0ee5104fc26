/** The loopback Telegram of the tests in a process of its own: people who sign in, and somebody who writes to them. */
import { serverKey } from '../../test/support/telegram-dc/crypto.ts'
import { TelegramNetwork } from '../../test/support/telegram-dc/network.ts'
import type { Person } from '../../test/support/telegram-dc/people.ts'
import { answerParent } from './child.ts'
import type { Device, TelegramAddress } from './telegram.ts'

interface Writing {
  readonly to: number
  readonly from: number
  readonly count: number
}

const ends: (() => unknown)[] = []
let network: TelegramNetwork

const personOf = (id: number): Person => {
  const person = network.people.get(id)
  if (!person) throw new Error(`there is nobody with the id ${id}`)
  return person
}

answerParent({
  async start(): Promise<TelegramAddress> {
    network = await TelegramNetwork.start({ teardown: (end) => void ends.push(end) })
    network.habits.givesSalts = true
    return { entrance: network.entrance, pem: (await serverKey()).pem }
  },
  person() {
    const { id, phone } = network.person()
    return { id, phone }
  },
  /** So many people who have signed in on a device each. */
  crowd(count: number): Device[] {
    network.isCrowd = true
    return Array.from({ length: count }, () => {
      const person = network.person()
      return { id: person.id, key: network.device(person).toString('base64') }
    })
  },
  /** Connections that are open, and all that there ever were. */
  connections() {
    const sum = (of: (centre: (typeof network.centres)[number]) => number) =>
      network.centres.reduce((total, centre) => total + of(centre), 0)
    return {
      open: sum(({ connections }) => connections.size),
      ever: sum(({ everyConnection }) => everyConnection.length),
    }
  },
  /** Requests so far, by their names. */
  requests() {
    const counts: Record<string, number> = {}
    for (const { requests } of network.centres)
      for (const name of requests) counts[name] = (counts[name] ?? 0) + 1
    return counts
  },
  async listen(isListening: boolean) {
    for (const centre of network.centres) await (isListening ? centre.listen() : centre.stop())
  },
  codeOf: (id: number) => personOf(id).code,
  write({ to, from, count }: Writing) {
    for (let number = 0; number < count; number++) {
      network.delivery.send(personOf(from), personOf(to), {
        message: `The quick brown fox ${number}`,
      })
    }
  },
  async stop() {
    for (const end of ends) await end()
    if (network.defects.length > 0) throw new AggregateError(network.defects)
  },
})
