/** Methods about the commands of a bot: kept by the gateway, for each scope and language. */

import { badRequest, failed } from '../../../machines/model/failure.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import { Arguments, chatFrom } from '../arguments.ts'
import { type Call, type Method, result } from '../method.ts'

const COMMANDS = 100
/** The parameters that each scope requires. */
const SCOPES: Readonly<Record<string, readonly ('chat_id' | 'user_id')[]>> = {
  default: [],
  all_private_chats: [],
  all_group_chats: [],
  all_chat_administrators: [],
  chat: ['chat_id'],
  chat_administrators: ['chat_id'],
  chat_member: ['chat_id', 'user_id'],
}

const where = { scope: 'json', language_code: 'string' } as const
const local = { scope: undefined, operation: undefined, required: [] } as const

const setMyCommands: Method = {
  ...local,
  name: 'setMyCommands',
  summary: 'Says which commands a bot has',
  scope: 'bot:send',
  parameters: { commands: 'json', ...where },
  required: ['commands'],
  run: async ({ args, key, world }) => {
    const name = placeOf(args)
    await world.profileStore.write(key.facts.credentialId, name, commandsOf(args))
    return result(true)
  },
}

const deleteMyCommands: Method = {
  ...local,
  name: 'deleteMyCommands',
  summary: 'Forgets the commands of a bot',
  scope: 'bot:send',
  parameters: where,
  run: async ({ args, key, world }) => {
    await world.profileStore.remove(key.facts.credentialId, placeOf(args))
    return result(true)
  },
}

const getMyCommands: Method = {
  ...local,
  name: 'getMyCommands',
  summary: 'The commands of a bot',
  parameters: where,
  run: async ({ args, key, world }: Call) =>
    result((await world.profileStore.read(key.facts.credentialId, placeOf(args))) ?? []),
}

function placeOf(args: Arguments): string {
  const language = languageOf(args)
  const wrong = "can't parse BotCommandScope: BotCommandScope must be an Object"
  const scope = args.has('scope')
    ? args.object('scope', 'BotCommandScope', wrong)
    : { type: 'default' }
  const given = Arguments.from(scope)
  const type = given.text('type')
  if (type === undefined) throw badScope('Can\'t find field "type"')
  if (!Object.hasOwn(SCOPES, type)) {
    throw badScope('Unsupported type specified')
  }
  const names = SCOPES[type] ?? []
  for (const name of names) {
    if (!given.has(name)) throw badScope(`Can't find field "${name}"`)
  }
  const [chat = '', person = ''] = names.map((name) => idIn(given, name))
  return `commands ${type} ${chat} ${person} ${language}`
}

const badScope = (problem: string) => badRequest(`can't parse BotCommandScope: ${problem}`)

/** A call without commands takes them away. */
function commandsOf(args: Arguments): Json {
  if (!args.has('commands')) return []
  const given = args.list('commands', 'commands', 'BotCommand')
  if (given.length > COMMANDS) throw badRequest('BOT_COMMANDS_TOO_MUCH')
  return given.map((value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw badCommand('expected an Object')
    }
    const record = value as Record<string, unknown>
    const { is_ephemeral: isEphemeral } = record
    const name = textIn(record, 'command').replace(/^\//, '')
    const description = textIn(record, 'description')
    if (name === '') throw badRequest('command must be non-empty')
    if (description.trim() === '') throw badRequest('command description must be non-empty')
    if (!/^[a-z0-9_]{1,32}$/.test(name)) throw badRequest('BOT_COMMAND_INVALID')
    if ([...description].length > 256) throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID')
    if (isEphemeral !== undefined && typeof isEphemeral !== 'boolean') {
      throw badRequest('field "is_ephemeral" must be of type Boolean')
    }
    return { command: name, description, ...(isEphemeral && { is_ephemeral: true }) }
  })
}

const badCommand = (problem: string) => badRequest(`can't parse BotCommand: ${problem}`)

/** A number is taken as its digits. */
function textIn(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name]
  if (typeof value === 'string') return value
  if (typeof value === 'number') return `${value}`
  throw badCommand(
    name in record ? `Field "${name}" must be of type String` : `Can't find field "${name}"`,
  )
}

export const commandMethods = [setMyCommands, deleteMyCommands, getMyCommands]

/** A language code; empty for the value of all languages without their own. */
export function languageOf(args: Arguments): string {
  const language = args.text('language_code') ?? ''
  if (/^([a-z]{2})?$/.test(language)) return language
  throw failed('bad_request', 'LANG_CODE_INVALID')
}

/** The id of a person or chat as text in one spelling, so that equal ids compare equal. */
const idIn = (args: Arguments, what: 'chat_id' | 'user_id'): string =>
  what === 'user_id' ? `${args.userId()}` : `${chatFrom(args.text(what) ?? '')}`.toLowerCase()
