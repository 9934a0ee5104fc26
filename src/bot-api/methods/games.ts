/** Methods about games and their scores. */
import { badRequest } from '../../../machines/model/failure.ts'
import type { Game } from '../../../machines/model/game.ts'
import type { Arguments } from '../arguments.ts'
import { type Call, type Method, result } from '../method.ts'
import { isInline, send, sendParameters } from '../sending.ts'

const HIGHEST = 2 ** 31 - 1

/** Networks other than Telegram keep no games: only the name of a game is known. */
export function gameOf(args: Arguments): Game {
  const name = args.text('game_short_name') ?? ''
  if (!/^\w{1,64}$/.test(name)) throw badRequest('wrong game short name specified')
  return { name, title: name, description: '' }
}

const sendGame: Method = {
  name: 'sendGame',
  summary: 'Sends a game; its first button starts it',
  scope: 'bot:send',
  operation: 'send',
  content: 'game',
  sends: true,
  parameters: { ...sendParameters, game_short_name: 'string' },
  required: ['chat_id', 'game_short_name'],
  run: async (call) => result(await send(call, { kind: 'game', game: gameOf(call.args) })),
}

const placed = {
  user_id: 'integer',
  chat_id: 'chat',
  message_id: 'integer',
  inline_message_id: 'string',
} as const

/** The person, and the message of the game. */
function playedOf(call: Call) {
  const { args } = call
  const person = args.userId()
  if (isInline(call)) return { person, inline: args.text('inline_message_id') ?? '' }
  return { person, chat: args.chat(), message: args.messageId('message_id') }
}

const setGameScore: Method = {
  name: 'setGameScore',
  summary: 'Sets the score of a person in a game',
  scope: 'bot:send',
  operation: 'set_score',
  parameters: {
    ...placed,
    score: 'integer',
    force: 'boolean',
    disable_edit_message: 'boolean',
    edit_message: 'boolean',
  },
  required: ['user_id', 'score'],
  run: async (call) => {
    const { args, perform } = call
    const score = args.integer('score', { min: -1, max: HIGHEST })
    if (score < 0) throw badRequest('score must be non-negative')
    // `edit_message` is the older name of the opposite.
    const isShown = args.has('edit_message')
      ? args.boolean('edit_message')
      : !args.boolean('disable_edit_message')
    const terms = { score, mayFall: args.boolean('force'), isShown }
    return result(await perform({ kind: 'set_score', ...terms, ...playedOf(call) }))
  },
}

const getGameHighScores: Method = {
  name: 'getGameHighScores',
  summary: 'The best scores of a game, and those around a person',
  scope: undefined,
  operation: 'scores',
  parameters: placed,
  required: ['user_id'],
  run: async (call) => result(await call.perform({ kind: 'scores', ...playedOf(call) })),
}

export const gameMethods = [sendGame, setGameScore, getGameHighScores]
