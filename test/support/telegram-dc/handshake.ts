/** The server's half of the key exchange: three questions of a client, and both have one key. */
import { randomBytes } from 'node:crypto'
import { Long } from '@mtcute/core'
import { generateKeyAndIvFromNonce } from '@mtcute/node/utils.js'
import { clock } from './clock.ts'
import {
  PRIME,
  power,
  provider,
  type ServerKey,
  secretExponent,
  sha1,
  sha256,
  toBytes,
  toNumber,
} from './crypto.ts'
import { Reader } from './reader.ts'
import type { TlObject } from './schema.ts'
import { write } from './writer.ts'

export interface AuthKey {
  readonly id: string
  readonly key: Buffer
  /** Changes now and then. */
  salt: Long
}

const PQ = Buffer.from('17ED48941A08F981', 'hex')
const G = 3n

export const longOf = (bytes: Buffer) => new Long(bytes.readInt32LE(0), bytes.readInt32LE(4))

export class Handshake {
  readonly #server: ServerKey
  readonly #serverNonce = randomBytes(16)
  readonly #secret = secretExponent()
  #nonce: Buffer = Buffer.alloc(0)
  #newNonce: Buffer = Buffer.alloc(0)

  constructor(server: ServerKey) {
    this.#server = server
  }

  /** The answer, and the key once there is one. */
  answer(question: TlObject): { readonly answer: TlObject; readonly made?: AuthKey } {
    switch (question._) {
      case 'mt_req_pq_multi':
        return { answer: this.#begin(bytesOf(question.nonce)) }
      case 'mt_req_DH_params':
        return { answer: this.#offer(bytesOf(question.encryptedData)) }
      case 'mt_set_client_DH_params':
        return this.#agree(bytesOf(question.encryptedData))
      default:
        throw new Error(`${question._} is no part of a key exchange`)
    }
  }

  #begin(nonce: Buffer): TlObject {
    this.#nonce = nonce
    return {
      _: 'mt_resPQ',
      ...this.#nonces(),
      pq: PQ,
      serverPublicKeyFingerprints: [longOf(this.#server.fingerprint)],
    }
  }

  #offer(sealed: Buffer): TlObject {
    const opened = this.#server.open(sealed)
    const inner = new Reader(
      isPaddedTheOldWay(opened) ? opened.subarray(21) : unpad(opened),
    ).object()
    this.#newNonce = bytesOf(inner.newNonce)
    const offer = write({
      _: 'mt_server_DH_inner_data',
      ...this.#nonces(),
      g: Number(G),
      dhPrime: toBytes(PRIME),
      gA: toBytes(power(G, this.#secret, PRIME)),
      serverTime: Math.floor(clock.now() / 1000),
    })
    const plain = Buffer.concat([sha1(offer), offer])
    const padded = Buffer.concat([plain, randomBytes((16 - (plain.length % 16)) % 16)])
    const encryptedAnswer = this.#cipher().encrypt(padded)
    return { _: 'mt_server_DH_params_ok', ...this.#nonces(), encryptedAnswer }
  }

  #agree(sealed: Buffer) {
    const plain = Buffer.from(this.#cipher().decrypt(sealed))
    const inner = new Reader(plain.subarray(20)).object()
    const key = toBytes(power(toNumber(bytesOf(inner.gB)), this.#secret, PRIME))
    // The library leaves zeros out where a key begins with them, and would then have another one.
    if (key[0] === 0) return { answer: this.#retry(key) }
    const hash = sha1(key)
    const salt = Buffer.alloc(8)
    for (let i = 0; i < 8; i++) salt[i] = (this.#newNonce[i] ?? 0) ^ (this.#serverNonce[i] ?? 0)
    const newNonceHash1 = sha1(this.#newNonce, Buffer.of(1), hash.subarray(0, 8)).subarray(4)
    return {
      made: { id: hash.subarray(-8).toString('hex'), key, salt: longOf(salt) },
      answer: { _: 'mt_dh_gen_ok', ...this.#nonces(), newNonceHash1 },
    }
  }

  #retry(key: Buffer): TlObject {
    const hash = sha1(key.subarray(key.findIndex((byte) => byte !== 0)))
    const newNonceHash2 = sha1(this.#newNonce, Buffer.of(2), hash.subarray(0, 8)).subarray(4)
    return { _: 'mt_dh_gen_retry', ...this.#nonces(), newNonceHash2 }
  }

  #nonces() {
    return { nonce: this.#nonce, serverNonce: this.#serverNonce }
  }

  #cipher() {
    return provider.createAesIge(
      ...generateKeyAndIvFromNonce(provider, this.#serverNonce, this.#newNonce),
    )
  }
}

export const bytesOf = (value: unknown): Buffer => Buffer.from(value as Uint8Array)

/** Not all clients have learnt RSA_PAD: a zero, a hash of the data, the data, and random bytes. */
function isPaddedTheOldWay(opened: Buffer): boolean {
  if (opened[0] !== 0) return false
  const data = opened.subarray(21)
  // The data says itself where it ends, and only objects without a data centre are sent so.
  for (let length = 4; length <= data.length; length += 4) {
    if (sha1(data.subarray(0, length)).equals(opened.subarray(1, 21))) return true
  }
  return false
}

/** RSA_PAD backwards. */
function unpad(opened: Buffer): Buffer {
  const sealed = opened.subarray(32)
  const key = Buffer.from(opened.subarray(0, 32))
  const mask = sha256(sealed)
  for (let i = 0; i < 32; i++) key[i] = (key[i] ?? 0) ^ (mask[i] ?? 0)
  const plain = Buffer.from(provider.createAesIge(key, Buffer.alloc(32)).decrypt(sealed))
  const data = Buffer.from(plain.subarray(0, 192)).reverse()
  if (!sha256(key, data).equals(plain.subarray(192))) throw new Error('the padding is wrong')
  return data
}
