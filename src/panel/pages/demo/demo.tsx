/** /dashboard/demo: makes two sandbox people, a linked account, a key and a chat, and shows a bot echo the first message. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { resultOf } from '../../api/failure.ts'
import { type Person, personApi } from '../../api/sandbox.ts'
import { baseUrl } from '../../api/session.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Failed, Loading, Notice, Wrong } from '../../ui/states.tsx'
import { between, type Demo, findDemo, isDone, makeDemo, steps } from './make.ts'

const queryKey = ['demo']
const chatKey = ['demo', 'chat']
/** How often the chat is read while it is shown. */
const LOOK_MS = 1_500

/** The smallest bot that answers, for Node.js without any library. */
const snippetOf = (key: string) => `const api = '${baseUrl()}/bot${key}'
const call = async (method, body) => {
  const response = await fetch(\`\${api}/\${method}\`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()).result
}
let offset = 0
for (;;) {
  for (const { update_id, message } of await call('getUpdates', { offset, timeout: 30 })) {
    offset = update_id + 1
    if (message?.text) {
      await call('sendMessage', { chat_id: message.chat.id, text: message.text })
    }
  }
}`

export function DemoPage() {
  const t = useT()
  const queries = useQueryClient()
  const [query, setQuery] = useSearchParams()
  const found = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Demo> => {
      const known = queries.getQueryData<Demo>(queryKey)?.key
      const demo = await findDemo(signal)
      // The service names a key without the secret that this page has.
      const isSame = known?.key && known.api_key_id === demo.key?.api_key_id
      return isSame ? { ...demo, key: known } : demo
    },
  })
  const making = useMutation({
    mutationFn: makeDemo,
    onSuccess: (made) => queries.setQueryData<Demo>(queryKey, made),
    onSettled() {
      for (const changed of ['demo', 'summary', 'credentials', 'keys', 'sandbox']) {
        queries.invalidateQueries({ queryKey: [changed] })
      }
    },
  })
  const { mutate } = making
  const isWanted = query.has('make')
  useEffect(() => {
    if (!isWanted) return
    // Taken out of the address, so that a reload makes nothing.
    setQuery({}, { replace: true })
    mutate()
  }, [isWanted, setQuery, mutate])

  const demo = found.data
  return (
    <Page title={t('demo.title')} lead={t('demo.lead')} narrow>
      {found.isError && !demo ? (
        <Failed cause={found.error} retry={() => found.refetch()} />
      ) : !demo ? (
        <Loading lines={4} />
      ) : (
        <>
          <Course demo={demo} making={making} />
          {demo.key?.key && demo.bot && demo.visitor && (
            <Try demo={demo} secret={demo.key.key} bot={demo.bot} visitor={demo.visitor} />
          )}
        </>
      )}
    </Page>
  )
}

interface CourseProps {
  readonly demo: Demo
  readonly making: {
    readonly isPending: boolean
    readonly error: unknown
    mutate(): void
  }
}

/** The steps, which of them are done, and the button that does the others. */
function Course({ demo, making }: CourseProps) {
  const t = useT()
  const done = isDone(demo)
  const count = steps.filter((step) => done[step]).length
  const isWhole = count === steps.length
  return (
    <Card title={t('demo.steps')}>
      <ol className="records" aria-live="polite" aria-busy={making.isPending}>
        {steps.map((step) => (
          <li key={step} className="record">
            <span className="grow">{t(`demo.step.${step}`)}</span>
            <Badge tone={done[step] ? 'good' : 'idle'}>
              {t(done[step] ? 'demo.done' : 'demo.open')}
            </Badge>
          </li>
        ))}
      </ol>
      <Wrong cause={making.error} />
      {isWhole && !demo.key?.key && <Notice>{t('demo.secretGone')}</Notice>}
      {!(isWhole && demo.key?.key) && (
        <div className="actions">
          <Button kind="first" icon="flask" busy={making.isPending} onClick={() => making.mutate()}>
            {t(isWhole ? 'demo.newSecret' : count > 0 ? 'demo.continue' : 'demo.make')}
          </Button>
        </div>
      )}
    </Card>
  )
}

interface TryProps {
  readonly demo: Demo
  readonly secret: string
  readonly bot: Person
  readonly visitor: Person
}

/** The snippet and a way to run the same here, beside the chat in which the echo comes. */
function Try({ demo, secret, bot, visitor }: TryProps) {
  return (
    <>
      <Snippet secret={secret} />
      <EchoChat demo={demo} bot={bot} visitor={visitor} />
    </>
  )
}

function Snippet({ secret }: { readonly secret: string }) {
  const t = useT()
  const code = snippetOf(secret)
  const running = useEcho(secret)
  return (
    <Card title={t('demo.snippet')}>
      <p className="quiet small">{t('demo.snippetText')}</p>
      <div className="copied">
        <pre tabIndex={0}>{code}</pre>
        <CopyButton text={code} />
      </div>
      <Wrong cause={running.error} />
      <div className="actions">
        {running.isOn ? (
          <Button onClick={running.stop}>{t('demo.stop')}</Button>
        ) : (
          <Button kind="first" icon="bolt" onClick={running.start}>
            {t('demo.run')}
          </Button>
        )}
      </div>
    </Card>
  )
}

function EchoChat({ demo, bot, visitor }: Omit<TryProps, 'secret'>) {
  const t = useT()
  const chat = useQuery({
    queryKey: chatKey,
    queryFn: ({ signal }) => between(visitor, bot, signal),
    initialData: demo.messages,
    refetchInterval: LOOK_MS,
  })
  const isEchoed = chat.data.some(({ from }) => from?.id === bot.id)
  return (
    <Card title={t('demo.chat')}>
      <ul className="records" aria-live="polite">
        {chat.data.map(({ message_id, from, text }) => (
          <li key={message_id} className="record">
            <span className="label">{from?.first_name}</span>
            <span className="grow" dir="auto">
              {text}
            </span>
          </li>
        ))}
      </ul>
      {isEchoed && (
        <p className="row tone-good" role="status">
          <Icon name="check" /> {t('demo.echoed')}
        </p>
      )}
      <Wrong cause={chat.error} />
      <Say to={bot.id} by={visitor.id} />
      <div className="actions">
        <ButtonLink to={`/dashboard/sandbox?as=${visitor.id}&chat=${bot.id}`}>
          {t('demo.toChat')}
        </ButtonLink>
        {demo.account && (
          <ButtonLink to={`/dashboard/accounts/${demo.account.credential_id}`}>
            {t('linking.toAccount')}
          </ButtonLink>
        )}
        {demo.key && (
          <ButtonLink to={`/dashboard/keys/${demo.key.api_key_id}`}>{t('keys.toKey')}</ButtonLink>
        )}
      </div>
    </Card>
  )
}

/** Writes to the bot as the visitor. */
function Say({ to, by }: { readonly to: number; readonly by: number }) {
  const t = useT()
  const queries = useQueryClient()
  const [text, setText] = useState('')
  const saying = useMutation({
    mutationFn: (said: string) => personApi(by).write({ to, text: said }),
    onMutate: () => setText(''),
    onError: (_, said) => setText((typed) => (typed === '' ? said : `${said} ${typed}`)),
    onSuccess: () => queries.invalidateQueries({ queryKey: chatKey }),
  })
  return (
    <Form
      by={{ isPending: saying.isPending, mutate: () => saying.mutate(text.trim()) }}
      isReady={text.trim() !== ''}
    >
      <Field
        label={t('demo.say')}
        autoComplete="off"
        maxLength={4096}
        dir="auto"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Wrong cause={saying.error} />
      <div>
        <Button type="submit" icon="send" busy={saying.isPending}>
          {t('messenger.send')}
        </Button>
      </div>
    </Form>
  )
}

interface BotUpdate {
  readonly update_id: number
  readonly message?: { readonly text?: string; readonly chat: { readonly id: number } }
}

/** Runs what the snippet does in this page until it is stopped or the page is left. */
function useEcho(secret: string) {
  const queries = useQueryClient()
  const [isOn, setOn] = useState(false)
  const [error, setError] = useState<unknown>()
  const ended = useRef<AbortController>(undefined)
  const stop = () => {
    ended.current?.abort()
    setOn(false)
  }
  useEffect(() => () => ended.current?.abort(), [])
  const start = () => {
    const run = new AbortController()
    ended.current = run
    setError(undefined)
    setOn(true)
    echo(secret, run.signal, () => queries.invalidateQueries({ queryKey: chatKey })).catch(
      (cause: unknown) => {
        if (run.signal.aborted) return
        setError(cause)
        setOn(false)
      },
    )
  }
  return { isOn, error, start, stop }
}

async function echo(secret: string, signal: AbortSignal, answered: () => void): Promise<void> {
  const bot = async <Result,>(method: string, body: object) =>
    resultOf<Result>(
      await fetch(`/bot${secret}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        credentials: 'omit',
        signal,
      }),
    )
  for (let offset = 0; !signal.aborted; ) {
    for (const { update_id, message } of await bot<readonly BotUpdate[]>('getUpdates', {
      offset,
      timeout: 20,
    })) {
      offset = update_id + 1
      if (!message?.text) continue
      await bot('sendMessage', { chat_id: message.chat.id, text: message.text })
      answered()
    }
  }
}
