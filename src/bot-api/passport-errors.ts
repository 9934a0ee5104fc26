/** Reads the errors that a bot reports in a person's passport data. */
import { badRequest } from '../../machines/model/failure.ts'
import type { PassportError } from '../../machines/model/operation-bots.ts'
import { Arguments } from './arguments.ts'

const PAPERS = ['passport', 'driver_license', 'identity_card', 'internal_passport']
const PROOFS = [
  'utility_bill',
  'bank_statement',
  'rental_agreement',
  'passport_registration',
  'temporary_registration',
]
const BACKED = ['driver_license', 'identity_card']

interface Source {
  /** The elements that can have it; absent: any. */
  readonly types?: readonly string[]
  /** The texts that it needs besides its message. */
  readonly texts: readonly string[]
  readonly hasHashes?: true
}

const SOURCES: Readonly<Record<string, Source>> = {
  data: { types: ['personal_details', ...PAPERS, 'address'], texts: ['field_name', 'data_hash'] },
  front_side: { types: PAPERS, texts: ['file_hash'] },
  reverse_side: { types: BACKED, texts: ['file_hash'] },
  selfie: { types: PAPERS, texts: ['file_hash'] },
  file: { types: PROOFS, texts: ['file_hash'] },
  files: { types: PROOFS, texts: [], hasHashes: true },
  translation_file: { types: [...PAPERS, ...PROOFS], texts: ['file_hash'] },
  translation_files: { types: [...PAPERS, ...PROOFS], texts: [], hasHashes: true },
  unspecified: { texts: ['element_hash'] },
}

/** Hashes whose size the reference's network checks. */
const SIZED = { data_hash: 'DATA_HASH_SIZE_INVALID', element_hash: 'HASH_SIZE_INVALID' } as const
const HASH_BYTES = 32
const isHash = (text: string) => Buffer.from(text, 'base64').length === HASH_BYTES

/** Throws `bad_request` for what the reference does not take. */
export function passportErrorsOf(args: Arguments): PassportError[] {
  const errors = args.json('errors')
  if (!Array.isArray(errors)) throw badRequest("can't parse errors JSON object")
  return errors.map(errorOf)
}

function errorOf(value: unknown): PassportError {
  if (typeof value !== 'object' || value === null) throw badRequest('expected an Object')
  const given = Arguments.from(value)
  const source = needed(given, 'source')
  const known = Object.hasOwn(SOURCES, source) ? SOURCES[source] : undefined
  if (!known) throw badRequest('wrong Passport Element Error source specified')
  const type = needed(given, 'type')
  if (known.types && !known.types.includes(type)) {
    throw badRequest('wrong Telegram Passport element type specified')
  }
  const texts = ['message', ...known.texts].map((name) => [name, needed(given, name)])
  for (const [name, problem] of Object.entries(SIZED)) {
    if (known.texts.includes(name) && !isHash(needed(given, name))) throw badRequest(problem)
  }
  return {
    source,
    type,
    ...Object.fromEntries(texts),
    ...(known.hasHashes && { file_hashes: hashesOf(given) }),
  }
}

function needed(given: Arguments, name: string): string {
  const text = given.text(name)
  if (text === undefined) throw badRequest(`can't find field "${name}"`)
  return text
}

function hashesOf(given: Arguments): readonly string[] {
  const hashes: unknown = given.json('file_hashes')
  const areTexts = Array.isArray(hashes) && hashes.every((hash) => typeof hash === 'string')
  if (!areTexts || hashes.length === 0) throw badRequest('wrong file_hashes specified')
  return hashes
}
