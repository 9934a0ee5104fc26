/** Methods of bots with a task of their own: join queries, personal channels, bots that they manage, and passports. */
import { badRequest } from '../../../machines/model/failure.ts'
import {
  JOIN_DECISIONS,
  type JoinDecision,
  type PassportError,
} from '../../../machines/model/operation-bots.ts'
import { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'

const MOST_PERSONAL = 20

function decisionOf(args: Arguments): JoinDecision {
  const decision = JOIN_DECISIONS.find((known) => known === args.text('result'))
  if (!decision) throw badRequest('invalid result specified')
  return decision
}

function queryOf(args: Arguments): string {
  const query = args.text('chat_join_request_query_id')
  if (query === undefined) throw badRequest('query ID is not specified')
  return query
}

const managing = { user_id: 'integer' } as const

function addedOf(args: Arguments): readonly number[] {
  if (!args.has('added_user_ids')) return []
  const added = args.list('added_user_ids', 'added_user_ids', 'user identifiers')
  const isId = (id: unknown): id is number => Number.isSafeInteger(id) && Number(id) > 0
  if (!added.every(isId)) throw badRequest('wrong added_user_ids specified')
  return added
}

const tokenMethod = (name: string, summary: string, isReplaced: boolean): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation: 'managed_bot_token',
  parameters: managing,
  required: ['user_id'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'managed_bot_token', person: args.userId(), isReplaced })),
})

export const botTaskMethods: readonly Method[] = [
  {
    name: 'answerChatJoinRequestQuery',
    summary: 'Answers somebody who asks to join a chat whose requests the bot answers',
    scope: 'bot:send',
    operation: 'answer_join_query',
    parameters: { chat_join_request_query_id: 'string', result: 'string' },
    required: ['chat_join_request_query_id', 'result'],
    run: async ({ args, perform }) => {
      const [query, decision] = [queryOf(args), decisionOf(args)]
      return result(await perform({ kind: 'answer_join_query', query, decision }))
    },
  },
  {
    name: 'sendChatJoinRequestWebApp',
    summary: 'Shows a web app to somebody who asks to join',
    scope: 'bot:send',
    operation: 'show_join_app',
    parameters: { chat_join_request_query_id: 'string', web_app_url: 'string' },
    required: ['chat_join_request_query_id', 'web_app_url'],
    run: async ({ args, perform }) => {
      const [query, url] = [queryOf(args), args.text('web_app_url') ?? '']
      return result(await perform({ kind: 'show_join_app', query, url }))
    },
  },
  {
    name: 'getUserPersonalChatMessages',
    summary: "The newest messages of the channel in a person's profile",
    scope: 'bot:receive',
    operation: 'personal_messages',
    parameters: { user_id: 'integer', limit: 'integer' },
    required: ['user_id', 'limit'],
    run: async ({ args, perform }) => {
      const person = args.userId()
      const limit = args.integer('limit', { min: 0, max: MOST_PERSONAL + 1 })
      if (limit < 1) throw badRequest('limit must be positive')
      if (limit > MOST_PERSONAL) throw badRequest('limit must be between 1 and 20')
      return result(await perform({ kind: 'personal_messages', person, limit }))
    },
  },
  tokenMethod('getManagedBotToken', 'The token of a bot that the account manages', false),
  tokenMethod('replaceManagedBotToken', 'Gives a bot that the account manages a new token', true),
  {
    name: 'getManagedBotAccessSettings',
    summary: 'Who may write to a bot that the account manages',
    scope: 'bot:receive',
    operation: 'managed_bot_access',
    parameters: managing,
    required: ['user_id'],
    run: async ({ args, perform }) =>
      result(await perform({ kind: 'managed_bot_access', person: args.userId() })),
  },
  {
    name: 'setManagedBotAccessSettings',
    summary: 'Sets who may write to a bot that the account manages',
    scope: 'bot:send',
    operation: 'set_managed_bot_access',
    parameters: { ...managing, is_access_restricted: 'boolean', added_user_ids: 'json' },
    required: ['user_id', 'is_access_restricted'],
    run: async ({ args, perform }) => {
      const [person, isRestricted] = [args.userId(), args.boolean('is_access_restricted')]
      const added = isRestricted ? addedOf(args) : []
      return result(await perform({ kind: 'set_managed_bot_access', person, isRestricted, added }))
    },
  },
  {
    name: 'setPassportDataErrors',
    summary: 'Tells a person of mistakes in their passport',
    scope: 'bot:send',
    operation: 'passport_errors',
    parameters: { user_id: 'integer', errors: 'json' },
    required: ['user_id', 'errors'],
    run: async ({ args, perform }) => {
      const [person, errors] = [args.userId(), passportErrorsOf(args)]
      return result(await perform({ kind: 'passport_errors', person, errors }))
    },
  },
]

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
function passportErrorsOf(args: Arguments): PassportError[] {
  return args.list('errors', 'errors', 'PassportElementError').map(errorOf)
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
