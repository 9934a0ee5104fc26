/** Login mechanisms in place of the library's: its SCRAM blocks the process and does not verify the server. */
import type { Client, Credentials, Element, Mechanism } from '@xmpp/client'
import { ns } from '../namespaces.ts'
import { type AccountKey, type Digest, Scram } from './scram.ts'

/** The best first. `PLAIN` tells the server the password. */
const scrams: readonly (readonly [name: string, digest: Digest])[] = [
  ['SCRAM-SHA-256', 'sha256'],
  ['SCRAM-SHA-1', 'sha1'],
]

export function useMechanisms(transport: Client, key: AccountKey): void {
  let exchange: ScramExchange | undefined
  const { saslFactory } = transport
  saslFactory._mechs.length = 0
  for (const [name, digest] of scrams) {
    // The library makes one for each login, with `new` and without arguments.
    const begin = function begin() {
      exchange = new ScramExchange(name, new Scram(digest, key))
      return exchange
    }
    saslFactory.use(name, begin)
  }
  saslFactory.use('PLAIN', function plain() {
    exchange = undefined
    return PLAIN
  })
  transport.prependListener('element', (element: Element) => {
    if (!exchange || !element.is('success', ns.sasl)) return
    exchange.end(decoded(atob(element.getText())))
    exchange = undefined
    key.proven()
  })
}

const PLAIN: Mechanism = {
  name: 'PLAIN',
  clientFirst: true,
  challenge: () => undefined,
  response: ({ username, password }) => encoded(`\0${username}\0${password}`),
}

class ScramExchange implements Mechanism {
  readonly name: string
  readonly clientFirst = true
  readonly #scram: Scram
  #challenge: string | undefined
  #isProven = false

  constructor(name: string, scram: Scram) {
    this.name = name
    this.#scram = scram
  }

  challenge(text: string) {
    this.#challenge = decoded(text)
  }

  async response({ username, password }: Credentials): Promise<string> {
    const challenge = this.#challenge
    if (challenge === undefined) return encoded(this.#scram.hello(username))
    // Some servers send their signature before the success, others with it.
    if (!challenge.startsWith('v=')) return encoded(await this.#scram.prove(challenge, password))
    this.end(challenge)
    return ''
  }

  end(last: string) {
    if (!this.#isProven) this.#scram.verify(last)
    this.#isProven = true
  }
}

/** The library takes each character for a byte. */
const encoded = (text: string) => Buffer.from(text).toString('latin1')
const decoded = (bytes: string) => Buffer.from(bytes, 'latin1').toString()
