/** The arithmetic of Telegram's key exchange, seen from the server. */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { addPublicKey, NodeCryptoProvider } from '@mtcute/node/utils.js'
import { Writer } from './writer.ts'

export const provider = new NodeCryptoProvider()

/** The safe prime that Telegram's servers use. */
export const PRIME = BigInt(
  '0xC71CAEB9C6B1C9048E6C522F70F13F73980D40238E3E21C14934D037563D930F48198A0AA7C14058229493D22530F4' +
    'DBFA336F6E0AC925139543AED44CCE7C3720FD51F69458705AC68CD4FE6B6B13ABDC9746512969328454F18FAF8C595F' +
    '642477FE96BB2A941D5BCD1D4AC8CC49880708FA9B378E3C4F3A9060BEE67CF9A4A4A695811051907E162753B56B0F6B' +
    '410DBA74D8A84B2A14B3144E0EF1284754FD17ED950D5965B4B9DD46582DB1178D169C6BC465B0D6FF9CA3928FEF5B9A' +
    'E4E418FC15E83EBEA0F87FA9FF5EED70050DED2849F47BF959D956850CE929851F0D8115F635B105EE2E4E15D04B2454' +
    'BF6F4FADF034B10403119CD8E3B92FCC5B',
)

const digest = (algorithm: string, parts: readonly Uint8Array[]) =>
  createHash(algorithm).update(Buffer.concat(parts)).digest()
export const sha1 = (...parts: Uint8Array[]) => digest('sha1', parts)
export const sha256 = (...parts: Uint8Array[]) => digest('sha256', parts)

export const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
export const toBytes = (number: bigint, length = 256) =>
  Buffer.from(number.toString(16).padStart(length * 2, '0'), 'hex')

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  let factor = base % modulus
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % modulus
    factor = (factor * factor) % modulus
  }
  return result
}

/** Shorter than a real server's secret exponents: nothing here is worth guessing, and it saves time. */
export const secretExponent = () => toNumber(randomBytes(32))

export interface ServerKey {
  readonly fingerprint: Buffer
  /** As the library reads it, to be trusted in other processes. */
  readonly pem: string
  open(sealed: Uint8Array): Buffer
}

/** In a process beside that of the network. */
export async function trust(pem: string): Promise<void> {
  await provider.initialize()
  addPublicKey(provider, pem)
}

let made: Promise<ServerKey> | undefined

/** One RSA key for all data centres of a process; the library is told to trust it. */
export const serverKey = () => {
  made ??= makeServerKey()
  return made
}

async function makeServerKey(): Promise<ServerKey> {
  await provider.initialize()
  for (;;) {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { n = '', e = '', d = '' } = pair.privateKey.export({ format: 'jwk' })
    const [modulus, exponent, secret] = [n, e, d].map((part) => Buffer.from(part, 'base64url'))
    if (!modulus || !exponent || !secret) throw new Error('an RSA key has three numbers')
    const fingerprint = sha1(new Writer().bytes(modulus).bytes(exponent).out()).subarray(-8)
    // The library does not find a key again whose number begins with a zero when it is written.
    if (fingerprint.readUInt8(7) < 0x10) continue
    const pem = pair.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    addPublicKey(provider, pem)
    return {
      fingerprint,
      pem,
      open: (sealed) => toBytes(power(toNumber(sealed), toNumber(secret), toNumber(modulus))),
    }
  }
}
