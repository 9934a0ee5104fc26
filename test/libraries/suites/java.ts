/** The suite of a Java library, of which only the tests are taken from its checkout: the library is Maven's. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reported } from './outcomes.ts'
import { fileAt, type Scene } from './scene.ts'
import type { Replaced, Suite } from './suite.ts'

const version = '10.1.0'
const tests = 'library/src/test/java/com/pengrad/telegrambot'
const resources = 'library/src/test/resources'

const dependency = (group: string, artifact: string, version: string) =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`

/** Beside the library's own build, which is Gradle's. */
const pom = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test.chapar</groupId>
  <artifactId>suite</artifactId>
  <version>0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build>
    <sourceDirectory>src/none</sourceDirectory>
    <plugins>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <configuration>
          <testIncludes>
            <testInclude>**/TelegramBotTest.java</testInclude>
            <testInclude>**/PaymentsTest.java</testInclude>
            <testInclude>**/UpdatesListenerTest.java</testInclude>
            <testInclude>**/RetryInterceptor.java</testInclude>
            <testInclude>**/checks/*.java</testInclude>
          </testIncludes>
        </configuration>
      </plugin>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <configuration>
          <testFailureIgnore>true</testFailureIgnore>
          <includes>
            <include>**/TelegramBotTest.java</include>
            <include>**/PaymentsTest.java</include>
            <include>**/UpdatesListenerTest.java</include>
          </includes>
        </configuration>
      </plugin>
    </plugins>
  </build>
  <dependencies>
    ${dependency('com.github.pengrad', 'java-telegram-bot-api', version)}
    ${dependency('junit', 'junit', '4.13.1')}
  </dependencies>
</project>
`

/** Updates that the suite reads from its environment, as its authors once received them. */
const user = { is_bot: false, first_name: 'A', username: 'someone', language_code: 'en' }
const address = {
  country_code: 'US',
  state: 'Florida',
  city: 'Miami',
  street_line1: 'Djs',
  street_line2: 'Djdjdjd',
  post_code: '25168',
}
const order = {
  name: 'uName',
  phone_number: '+123456789',
  email: 'aaa@aaa.com',
  shipping_address: address,
}
const from = { id: 12345, ...user }
const payload = { invoice_payload: 'my_payload' }
const received = {
  TEST_INLINE_QUERY: { inline_query: { id: '1', from, query: 'if', offset: 'offset' } },
  TEST_CHOSEN_INLINE_RESULT: { chosen_inline_result: { result_id: '1', from, query: 'hi' } },
  TEST_POLL_ANSWER: { poll_answer: { poll_id: '1', user: from, option_ids: [0, 2] } },
  TEST_SHIP_QUERY: { shipping_query: { id: '1', from, ...payload, shipping_address: address } },
  TEST_PRECHECKOUT_QUERY: {
    pre_checkout_query: {
      ...{ id: '112233', from, currency: 'USD', total_amount: 200, ...payload },
      ...{ shipping_option_id: '2', order_info: order },
    },
  },
}

const updateOf = (part: object) => JSON.stringify({ update_id: 1, ...part })

const private_ = { type: 'private', first_name: 'A' }
const callbackQuery = (person: number) => ({
  callback_query: {
    ...{ id: '1', from: { id: person, ...user }, chat_instance: '1' },
    ...{ game_short_name: 'pengrad_test_game' },
    message: { message_id: 1, date: 1, chat: { id: person, ...private_ } },
  },
})

export const javaTelegramBotApi: Suite = {
  name: 'java-telegram-bot-api',
  title: '[java-telegram-bot-api](https://github.com/pengrad/java-telegram-bot-api)',
  source: `checkout \`c607c79\` (tests of 9.5.0 with the library ${version})`,
  // Part of the names of the sticker sets that it makes.
  bot: 'pengrad_test_bot',
  changed: [tests],
  run: (folder, env) =>
    reported(['mvn', '-q', '-B', 'test'], join(folder, 'library'), env, 'target/surefire-reports'),
  async prepare(scene, folder) {
    const { service, ada, key, chat } = scene
    await writeFile(join(folder, 'library/pom.xml'), pom)
    await mkdir(join(folder, 'library/src/none'), { recursive: true })
    const group = await chat({ title: 'Test Bot Group', description: 'New desc' })
    const env = Object.fromEntries(
      Object.entries(received).map(([name, part]) => [name, updateOf(part)]),
    )
    return {
      env: {
        ...env,
        TEST_CALLBACK_QUERY: updateOf(callbackQuery(ada.id)),
        TEST_TOKEN: key,
        CHAT_ID: `${ada.id}`,
        GROUP_ID: `${group}`,
        API: service.url,
      },
      replaced: [
        [/new TelegramBot\.Builder\(([^;]*?)\)(?=\s*\.)/g, builder('$1')],
        [/new TelegramBot\((".*?")\)/g, `${builder('$1')}.build()`],
        ['contains("t.me")', 'contains("sandbox.invalid")'],
        ['"https://google.com"', '"https://127.0.0.1:9"'],
        ['TelegramBot.Builder.API_URL', 'System.getenv("API") + "/bot"'],
        ...(await replacedIds(scene, folder, group)),
      ],
    }
  },
}

const builder = (token: string) =>
  `new TelegramBot.Builder(${token}).apiUrl(System.getenv("API") + "/bot")` +
  '.fileApiUrl(System.getenv("API") + "/file/bot")'

/** What the suite names by ids of the reference's server: messages, chats and files of its own account. */
async function replacedIds(scene: Scene, folder: string, group: number): Promise<Replaced> {
  const { bot, ada, kim, call, chat, write, newStickerSet } = scene
  const to = { chat_id: ada.id }
  const channel = await chat({ kind: 'channel', title: 'Channel', username: 'bottest' })
  const forum = await chat({ is_forum: true, title: 'Forum' })
  const topic = await call('createForumTopic', { chat_id: forum, name: 'Topic' })
  const files = await sendFiles(scene, folder)
  const captioned = (chat: number) =>
    call('sendPhoto', { chat_id: chat, photo: files.photo, caption: 'caption' })
  const text = (chat: number) => call('sendMessage', { chat_id: chat, text: 'text' })
  const messages: Readonly<Record<string, { message_id: number }>> = {
    'chatId, 925': await text(ada.id),
    'chatId, 8124': await captioned(ada.id),
    'chatId, 8162': await call('sendGame', { ...to, game_short_name: 'pengrad_test_game' }),
    'chatId, 10009': await call('sendLocation', {
      ...{ ...to, latitude: 1, longitude: 1, live_period: 600 },
    }),
    'chatId, 100': await text(ada.id),
    'ReplyParameters(8087': await text(ada.id),
    'ReplyParameters(1': await text(ada.id),
    'forwardMessageId = 33263': await captioned(ada.id),
    'forwardMessageIdUser = 23714': await write(bot.id, 'from a person'),
    'int messageId = 13541': await call('sendDocument', { ...to, document: files.document }),
    'channelName, 306': await text(channel),
    'channelName, 511': await captioned(channel),
    'channelName, 651': await text(channel),
    'groupId.longValue(), 352': await text(group),
    'groupId, 18': await text(group),
    'messageId(3600': await text(group),
  }
  const pinned = messages['messageId(3600']?.message_id
  await call('pinChatMessage', { chat_id: group, message_id: pinned })
  const sticker = { sticker: 'attach://sticker', emoji_list: ['🙂'] }
  const mask_position = { point: 'forehead', x_shift: 0, y_shift: 0, scale: 1 }
  await newStickerSet(
    'testset_by_pengrad_test_bot',
    await fileAt(join(folder, resources, 'imageSticker.png')),
    {
      ...{ sticker_type: 'mask', title: 'test1' },
      stickers: [{ ...sticker, format: 'static', mask_position }],
    },
  )
  await newStickerSet(
    'testset_anim_by_pengrad_test_bot',
    await fileAt(join(folder, resources, 'sticker_anim.tgs')),
    { stickers: [{ ...sticker, format: 'animated' }] },
  )
  const ids = Object.entries(messages).map(
    ([place, { message_id }]) =>
      [
        new RegExp(`${escaped(place)}(?!\\d)`, 'g'),
        place.replace(/\d+$/, `${message_id}`),
      ] as const,
  )
  return [
    ...ids,
    [
      'assertEquals(Integer.valueOf(651)',
      `assertEquals(Integer.valueOf(${messages['channelName, 651']?.message_id})`,
    ],
    ['-1001002720332L', `${channel}L`],
    ['215003245L', `${kim.id}L`],
    ['-1001833520519L', `${forum}L`],
    ['forumEditThread = 3L', `forumEditThread = ${topic.message_thread_id}L`],
    [/"BQADAgAD4AAD[^"]*"|"BQADAgADuAAD[^"]*"/g, `"${files.sticker}"`],
    [/"CAACAgIAAxkB[^"]*"/g, `"${files.animated}"`],
    [/"CQADAgADXAAD[^"]*"/g, `"${files.audio}"`],
    [/"BQADAgADuwAD[^"]*"/g, `"${files.document}"`],
    [/"AwADAgADYwAD[^"]*"/g, `"${files.voice}"`],
    [/"BAADAgADZ[AwQ][^"]*"/g, `"${files.video}"`],
    [/"AgADAgADDKgx[^"]*"/g, `"${files.photo}"`],
    [/"CgADAgADfQAD[^"]*"/g, `"${files.animation}"`],
    [/"DQADAgADmQAD[^"]*"/g, `"${files.note}"`],
  ]
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A file_id of each kind. */
async function sendFiles({ fileId }: Scene, folder: string) {
  const sent = async (kind: string, file: string, more?: object) =>
    fileId(kind, await fileAt(join(folder, resources, file)), more)
  return {
    photo: await sent('photo', 'image.jpg'),
    audio: await sent('audio', 'beep.mp3', { title: 't', performer: 'p' }),
    document: await sent('document', 'dummy.pdf'),
    video: await sent('video', 'tabs.mp4'),
    animation: await sent('animation', 'anim3.gif'),
    note: await sent('video_note', 'video_note.mp4'),
    sticker: await sent('sticker', 'imageSticker.png'),
    animated: await sent('sticker', 'sticker_anim.tgs'),
    voice: await sent('voice', 'beep.mp3'),
  }
}
