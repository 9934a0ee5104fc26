/** Secrets that clients carry: their format, how they are made, and how they are compared. */
import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6

/** 43 characters carry 256 bits. */
function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = alphabet.charAt(rest % alphabet.length) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

/** Whether the end of `text` is the checksum of what stands before it. */
function hasChecksum(text: string): boolean {
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** Libraries of the reference API check this shape. Fifteen digits are still an exact number. */
const apiKeyForm = /^([1-9]\d{5,14}):([\w-]{43})$/

const SECRET_BYTES = 32
const SECRET_LENGTH = 43

interface ApiKey {
  readonly id: number
  readonly secret: string
}

export function newApiKeySecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function formatApiKey({ id, secret }: ApiKey): string {
  return `${id}:${secret}`
}

export function parseApiKey(text: string): ApiKey | undefined {
  const [, id, secret] = apiKeyForm.exec(text) ?? []
  return id && secret ? { id: Number(id), secret } : undefined
}

type TokenKind = 'pat' | 'ref' | 'lnk'

/** A personal access token (`pat`), a refresh token (`ref`) or what opens a link page (`lnk`). */
export function newToken(kind: TokenKind): string {
  const body = `chp_${kind}_${randomBase62(SECRET_LENGTH)}`
  return body + checksum(body)
}

/** Refuses malformed tokens without a database query. */
export function isToken(kind: TokenKind, text: string): boolean {
  return /^chp_[a-z]{3}_[0-9A-Za-z]{49}$/.test(text) && text.startsWith(`chp_${kind}_`)
    ? hasChecksum(text)
    : false
}

/** A plain hash is enough: the secrets are 256 random bits, there is nothing to guess. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The same hash as text in base64: each call has one to compare, and text is compared without being decoded. */
export function hashedSecret(secret: string): string {
  return hash('sha256', secret, 'base64')
}

/** Takes the same time wherever texts of one length differ. */
export function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
