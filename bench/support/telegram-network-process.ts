/** The loopback Telegram of the tests in a process of its own: people who sign in, and somebody who writes to them. */
import { serverKey } from '../../test/support/telegram-dc/crypto.ts'
import { TelegramNetwork } from '../../test/support/telegram-dc/network.ts'
import type { Person } from '../../test/support/telegram-dc/people.ts'
import { answerParent } from './child.ts'
import type { TelegramAddress } from './telegram.ts'

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
    return { entrance: network.entrance, pem: (await serverKey()).pem }
  },
  person() {
    const { id, phone } = network.person()
    return { id, phone }
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
