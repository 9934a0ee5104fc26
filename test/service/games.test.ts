/** Games on the sandbox: sent, offered in inline mode, started by people, and their scores. */
import sharp from 'sharp'
import t from 'tap'
import { refused, scene } from './scene.ts'

// The first picture waits for a thread that loads what reads it.
const { service, client, bot, ada, key } = await scene(t, { env: { PLATFORM_TIMEOUT_MS: '30000' } })
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)

async function done(method: string, parameters: object = {}) {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

let offset = 0
/** The next update of this kind. */
async function next(kind: string) {
  for (;;) {
    const updates = await done('getUpdates', { offset, timeout: 20 })
    if (updates.length === 0) throw new Error(`no ${kind} came`)
    offset = updates[0].update_id + 1
    if (updates[0][kind]) return updates[0][kind]
  }
}

const sendGame = (more: object = {}) =>
  done('sendGame', { chat_id: ada.id, game_short_name: 'chess', ...more })
const press = (body: object) =>
  client.ask('POST', `/sandbox/people/${ada.id}/presses`, { wait_seconds: 8, ...body })
const inbox = () => client.result('GET', `/sandbox/people/${ada.id}/inbox`)

t.test('a person starts a game and is sent to its address', async (t) => {
  const sent = await sendGame()
  const reply_markup = { inline_keyboard: [[{ text: 'Play chess', callback_game: {} }]] }
  t.match(sent, { game: { title: 'chess', description: '' }, reply_markup })
  const photo = sent.game.photo.at(-1)
  t.match(photo, { file_id: String, width: 640, height: 360 })
  const { file_path } = await done('getFile', { file_id: photo.file_id })
  const bytes = await (await fetch(`${service.url}/file/bot${key}/${file_path}`)).arrayBuffer()
  t.match(await sharp(bytes).metadata(), { format: 'jpeg', width: 640, height: 360 })
  t.notOk('text' in sent.game)
  t.match((await inbox()).messages[0], { game: { name: 'chess', photo: { type: 'photo' } } })

  const pressing = press({ chat: bot.id, message_id: sent.message_id, game: true })
  const query = await next('callback_query')
  t.match(query, {
    from: { id: ada.id },
    game_short_name: 'chess',
    message: { message_id: sent.message_id, game: { title: 'chess' } },
  })
  t.notOk('data' in query)
  const url = 'https://games.example/chess'
  t.equal(await done('answerCallbackQuery', { callback_query_id: query.id, url }), true)
  t.match((await pressing).body.result, { answered: true, url })
})

t.test('only the first button of a game starts it', async (t) => {
  const play = { text: 'Go', callback_game: {} }
  const more = { text: 'More', callback_data: 'more' }
  const keyboard = (...buttons: object[]) => ({ reply_markup: { inline_keyboard: [buttons] } })
  const sent = await sendGame(keyboard(play, more))
  t.match(sent.reply_markup.inline_keyboard[0], [play, more])
  const at = { chat: bot.id, message_id: sent.message_id, wait_seconds: 0 }
  t.match(await press({ ...at, callback_data: 'more' }), { status: 200 })
  t.match(await next('callback_query'), { data: 'more' })
  const wrong = bad('BUTTON_TYPE_INVALID')
  const game = { chat_id: ada.id, game_short_name: 'chess' }
  for (const buttons of [[more], [more, play], [play, play], [{ text: 'x', pay: true }]]) {
    t.match(await call('sendGame', { ...game, ...keyboard(...buttons) }), wrong)
  }
  const text = { chat_id: ada.id, text: 'hi', ...keyboard(play) }
  t.match(await call('sendMessage', text), wrong)
  const plain = await done('sendMessage', { chat_id: ada.id, text: 'hi' })
  const elsewhere = { chat: bot.id, message_id: plain.message_id }
  t.match(await press({ ...elsewhere, game: true }), bad('there is no such button'))
  const both = bad('name either callback_data or game')
  t.match(await press(elsewhere), both)
  t.match(await press({ ...elsewhere, game: true, callback_data: 'x' }), both)
  t.match(
    await call('sendGame', { ...game, game_short_name: 'no game' }),
    bad('wrong game short name specified'),
  )
})

t.test('scores rise, fall only where that is asked, and are shown in the message', async (t) => {
  const { message_id } = await sendGame({ game_short_name: 'scored' })
  const at = { chat_id: ada.id, message_id, user_id: ada.id }
  const shown = await done('setGameScore', { ...at, score: 5 })
  t.match(shown, { message_id, edit_date: Number, game: { text: '1. Ada – 5' } })
  t.match((await inbox()).messages[0], { game: { text: '1. Ada – 5' } })
  for (const score of [5, 4]) {
    t.match(await call('setGameScore', { ...at, score }), bad('BOT_SCORE_NOT_MODIFIED'))
  }
  t.match(await done('setGameScore', { ...at, score: 4, force: true }), {
    game: { text: '1. Ada – 4' },
  })
  t.match(await done('setGameScore', { ...at, score: 9, disable_edit_message: true }), {
    game: { text: '1. Ada – 4' },
  })
  await done('setGameScore', { ...at, user_id: bot.id, score: 12 })
  t.match(await done('getGameHighScores', at), [
    { position: 1, user: { id: bot.id }, score: 12 },
    { position: 2, user: { id: ada.id }, score: 9 },
  ])
  // The scores belong to the chat, not to one message.
  const { message_id: again } = await sendGame({ game_short_name: 'scored' })
  t.match(await done('getGameHighScores', { ...at, message_id: again }), [{ score: 12 }, {}])

  t.match(await call('setGameScore', { ...at, score: -1 }), bad('score must be non-negative'))
  t.match(await call('setGameScore', { ...at, user_id: 99, score: 1 }), bad('user not found'))
  const { message_id: plain } = await done('sendMessage', { chat_id: ada.id, text: 'hi' })
  const elsewhere = { ...at, message_id: plain, score: 20 }
  t.match(await call('setGameScore', elsewhere), bad('MESSAGE_ID_INVALID'))
  t.match(await call('getGameHighScores', elsewhere), bad('MESSAGE_ID_INVALID'))
  t.match(await done('getGameHighScores', at), [{ score: 12 }, { score: 9 }])
  const said = await done('editMessageText', { chat_id: ada.id, message_id, text: 'Over' })
  t.match(said, { game: { title: 'scored', text: 'Over' } })
})

t.test('the best three are listed, and two on each side of the person', async (t) => {
  const { message_id } = await sendGame({ game_short_name: 'many' })
  const people = []
  for (let number = 1; number <= 9; number += 1) {
    const { id } = await client.person(`P${number}`)
    people.push(id)
    const score = { user_id: id, score: 100 - number, disable_edit_message: true }
    await done('setGameScore', { chat_id: ada.id, message_id, ...score })
  }
  const scores = await done('getGameHighScores', {
    chat_id: ada.id,
    message_id,
    user_id: people[6],
  })
  const positions = scores.map(({ position }: { position: number }) => position)
  t.strictSame(positions, [1, 2, 3, 5, 6, 7, 8, 9])
  const stranger = await done('getGameHighScores', { chat_id: ada.id, message_id, user_id: bot.id })
  t.equal(stranger.length, 3)
})

t.test('a game is offered in inline mode, and not in channels', async (t) => {
  const kim = await client.person('Kim')
  const asking = client.result('POST', `/sandbox/people/${ada.id}/inline_queries`, {
    bot: bot.id,
    chat: kim.id,
    query: 'play',
    wait_seconds: 8,
  })
  const { id } = await next('inline_query')
  const results = [{ type: 'game', id: '1', game_short_name: 'chess' }]
  await done('answerInlineQuery', { inline_query_id: id, results })
  const { inline_query_id } = await asking
  const sent = await client.result('POST', `/sandbox/people/${ada.id}/inline_choices`, {
    inline_query_id,
    result_id: '1',
  })
  t.match(sent, { game: { name: 'chess' }, via_bot: { id: bot.id } })
  const at = { chat: kim.id, message_id: sent.message_id, game: true, wait_seconds: 0 }
  t.match(await press(at), { status: 200 })
  const query = await next('callback_query')
  t.match(query, { game_short_name: 'chess', inline_message_id: String })
  const inline = { inline_message_id: query.inline_message_id, user_id: ada.id }
  t.equal(await done('setGameScore', { ...inline, score: 3 }), true)
  t.match(await done('getGameHighScores', { ...inline, message_id: 0 }), [
    { position: 1, score: 3 },
  ])
  t.match(
    await call('getGameHighScores', { user_id: ada.id }),
    bad('message identifier is not specified'),
  )

  const channel = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: bot.id,
    members: [],
  })
  const game = { chat_id: channel.id, game_short_name: 'chess' }
  t.match(await call('sendGame', game), bad("games can't be sent to channel chats"))
})
