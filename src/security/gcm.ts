/** AES-256-GCM with a random nonce, bound to a text that says what is sealed. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Without the explicit length Node accepts tags cut to four bytes. */
const tagged = { authTagLength: TAG_BYTES }

/** nonce ‖ tag ‖ ciphertext */
export function encrypt(key: Buffer, plaintext: Buffer, binding: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, tagged).setAAD(Buffer.from(binding))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Throws when anything was changed or the binding is another one. */
export function decrypt(key: Buffer, sealed: Buffer, binding: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, tagged)
  decipher.setAAD(Buffer.from(binding)).setAuthTag(tag)
  const body = sealed.subarray(NONCE_BYTES + TAG_BYTES)
  return Buffer.concat([decipher.update(body), decipher.final()])
}
