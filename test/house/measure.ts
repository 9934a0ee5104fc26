/** What is asked of the code's map, and how it stands: the figures, their limits, and what exceeds them. */
import { circles, fragments, unusedExports } from './graph.ts'
import { readOthers, readProduction, type SourceFile } from './source.ts'

export interface Figure {
  readonly name: string
  readonly value: number
  readonly limit: number
  /** What is asked for, where it is not reached yet. */
  readonly aim?: number
  /** What makes up the figure, as far as it helps to see it. */
  readonly items: readonly string[]
}

const FUNCTION_LINES = 60
const fileLines = ({ path }: SourceFile) => (path.startsWith('machines/') ? 250 : 400)

/** Looked at: each is one thing that is easier to read whole. */
const longFunctions: readonly string[] = [
  // Sending, failing, editing and leaving move one text between the same three places.
  'src/panel/pages/sandbox/composer.tsx Composer',
  // Composition: one part after the other, in order of need.
  'src/composition/core.ts createCore',
  'src/platforms/xmpp/session.ts constructor',
  // One case for each kind of event.
  'src/bot-api/present/update.ts changeOf',
]

/** Read by tests, which compare them with the reference, the README and hostile peers; or by a tool. */
const servingOthers: readonly string[] = [
  'src/bot-api/parameter-rules.ts#parametersKnown',
  'src/bot-api/reference.ts#REFERENCE_VERSION',
  'src/config/config.ts#variableNames',
  'src/security/redact.ts#maskPhone',
  'src/panel/vite.config.ts#default',
]

/** Rooms founded after the redesign, for abilities that it did not know. The figure of 720 is of the others. */
const roomsSince: readonly string[] = [
  'machines/node/',
  'actors/node/',
  'src/nodes/',
  'machines/incident/',
  'actors/incident/',
  'src/alerts/',
  'src/http/management/alerts.ts',
  'src/http/management/alert-settings.ts',
  'src/composition/alerts.ts',
  'src/records/alert.ts',
  'src/records/node.ts',
  'src/net/mail.ts',
  'src/net/resolver.ts',
  'src/http/bodies/',
  'src/http/nodes/',
  'src/composition/nodes.ts',
  'src/platforms/telegram/reading/rich.ts',
  'src/platforms/telegram/suggested-posts.ts',
  'src/panel/early.ts',
  'src/panel/palette/',
  'src/panel/help/',
  'src/panel/pages/alerts/',
  'src/panel/pages/demo/',
  'src/panel/pages/explorer/',
  'src/panel/pages/history/',
  'src/panel/pages/nodes/',
  'src/panel/pages/sandbox/sending/',
  'src/panel/pages/sandbox/topics/',
  'src/panel/pages/bulk/',
  'src/bulk/',
  'src/http/management/bulk.ts',
  'src/http/management/views.ts',
  'src/exchanges/',
  'src/http/management/call-exchanges.ts',
  'src/http/management/resends.ts',
  'src/webhooks/headers.ts',
  'src/panel/pages/key/headers.tsx',
  'src/webhooks/resends.ts',
]
/** The last migration of the redesign. Each table that comes later has one of its own. */
const LAST_MIGRATION = 'src/database/migrations/0070'
const isLater = (path: string) =>
  roomsSince.some((room) => path.startsWith(room)) ||
  (/migrations\/\d/.test(path) && path > `${LAST_MIGRATION}~`)

export function measureSource(): Figure[] {
  const production = readProduction()
  const unused = unusedExports(production, readOthers())
  const [needless, dead] = [unused.needless, unused.dead].map((found) =>
    found.filter((name) => !servingOthers.includes(name)),
  ) as [string[], string[]]
  const measured = production.filter(({ path }) => !path.startsWith('src/database/migrations/'))
  const long = measured.flatMap(({ path, functions }) =>
    functions
      .filter(({ lines }) => lines > FUNCTION_LINES)
      .map(({ name, lines }) => ({ place: `${path} ${name}`, lines }))
      .filter(({ place }) => !longFunctions.includes(place))
      .map(({ place, lines }) => `${place} (${lines})`),
  )
  const large = production
    .filter((file) => file.lines > fileLines(file))
    .map(({ path, lines }) => `${path} (${lines})`)
  const byValue = circles(production, false).map(listed)
  const byType = circles(production, true).map(listed)
  const small = fragments(production)
  const topics = production
    .filter(({ path, text }) => !path.startsWith('src/panel/') && /\bcreate_topic\b/.test(text))
    .map(({ path }) => path)
  return [
    {
      name: 'production files',
      value: production.filter(({ path }) => !isLater(path)).length,
      limit: 720,
      items: [],
    },
    { name: 'circles by value', value: byValue.length, limit: 0, items: byValue },
    { name: 'circles, types counted', value: byType.length, limit: 0, items: byType },
    { name: 'needless exports', value: needless.length, limit: 0, items: needless },
    { name: 'dead exports', value: dead.length, limit: 0, items: dead },
    { name: 'functions over 60 lines', value: long.length, limit: 0, items: long },
    { name: 'files over 400 lines', value: large.length, limit: 0, items: large },
    { name: 'files that name create_topic', value: topics.length, limit: 8, items: topics },
    { name: 'fragments', value: small.length, limit: Number.POSITIVE_INFINITY, items: small },
  ]
}

const listed = (circle: readonly string[]) => `${circle.length}: ${circle.join(', ')}`
