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
  const scope = args.hasJson('scope') ? args.json('scope') : { type: 'default' }
  if (typeof scope !== 'object' || scope === null || Array.isArray(scope)) {
    throw badRequest("can't parse BotCommandScope: expected an Object")
  }
  const given = Arguments.from(scope)
  const type = given.text('type') ?? ''
  if (!Object.hasOwn(SCOPES, type)) {
    throw badRequest("can't parse BotCommandScope: Unsupported type specified")
  }
  const names = SCOPES[type] ?? []
  for (const name of names) {
    if (!given.has(name))
      throw badRequest(`can't parse BotCommandScope: Can't find field "${name}"`)
  }
  const [chat = '', person = ''] = names.map((name) => idIn(given, name))
  return `commands ${type} ${chat} ${person} ${language}`
}

function commandsOf(args: Arguments): Json {
  const given = args.list('commands', 'commands', 'BotCommand')
  if (given.length > COMMANDS) throw badRequest('BOT_COMMANDS_TOO_MUCH')
  return given.map((value: unknown) => {
    const {
      command,
      description,
      is_ephemeral: isEphemeral,
    } = (value ?? {}) as Record<string, unknown>
    if (typeof command !== 'string' || typeof description !== 'string') {
      throw badRequest("can't parse BotCommand: command and description are needed")
    }
    const name = command.replace(/^\//, '')
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
