/** /dashboard/keys/:id/try: a form for any method of the bot API, its answer, and the call as a line for a terminal. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import { keyQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Failed, Loading, Wrong } from '../../ui/states.tsx'
import { curlOf } from './call.tsx'
import { Text } from './exchanges.tsx'
import { heldKey } from './held-key.ts'
import { type Chat, Parameter, type ReferenceParameter, sentValue } from './parameter.tsx'
import { type Answer, ask } from './sending.ts'

/** The reference is large, so it comes with this page and not before. */
const referenceQuery = {
  queryKey: ['reference'],
  queryFn: async () => (await import('../../../bot-api/reference.ts')).reference,
  staleTime: Number.POSITIVE_INFINITY,
}

const FIRST_METHOD = 'sendMessage'

export function TryPage() {
  const t = useT()
  const id = Number(useParams().id)
  const apiKey = useQuery(keyQuery(id))
  const reference = useQuery(referenceQuery)
  const failure = apiKey.error ?? reference.error
  return (
    <Page
      title={t('try.title')}
      lead={t('try.lead')}
      crumbs={
        apiKey.data && <Link to={`/dashboard/keys/${id}?tab=requests`}>{apiKey.data.name}</Link>
      }
    >
      {failure && !(apiKey.data && reference.data) ? (
        <Failed
          cause={failure}
          retry={() => Promise.all([apiKey.refetch(), reference.refetch()])}
        />
      ) : apiKey.data && reference.data ? (
        <Trial keyId={id} reference={reference.data} />
      ) : (
        <Loading lines={6} />
      )}
    </Page>
  )
}

interface TrialProps {
  readonly keyId: number
  readonly reference: ReadonlyMap<string, readonly ReferenceParameter[]>
}

type Given = Readonly<Record<string, string>>

/** Another method starts with what it needs too, such as the chat: an optional value would be sent unseen. */
const keptFor = (parameters: readonly ReferenceParameter[], given: Given): Given =>
  Object.fromEntries(
    parameters.flatMap(({ name, required }) => (required ? [[name, given[name] ?? '']] : [])),
  )

function bodyOf(parameters: readonly ReferenceParameter[], given: Given) {
  const values = parameters.map((one) => [one.name, sentValue(one, given[one.name] ?? '')] as const)
  const body = Object.fromEntries(values.filter(([, value]) => value !== undefined))
  return { body, isWrong: values.some(([, value]) => value === null) }
}

function Trial({ keyId, reference }: TrialProps) {
  const t = useT()
  // In memory alone: what is pasted here goes nowhere but into the call.
  const [key, setKey] = useState(() => heldKey(keyId))
  const [method, setMethod] = useState(FIRST_METHOD)
  const [given, setGiven] = useState<Given>({})
  const chats = useChats(keyId, key)
  const parameters = reference.get(method) ?? []
  const { body, isWrong } = bodyOf(parameters, given)
  const sending = useMutation({ mutationFn: () => ask(key.trim(), method, body) })
  return (
    <div className="columns">
      <Card title={t('try.call')}>
        <Form by={sending} isReady={!isWrong}>
          <KeyField keyId={keyId} value={key} onChange={setKey} />
          <Choice
            label={t('search.method')}
            value={method}
            options={[...reference.keys()].map((one) => [one, one] as const)}
            onChange={(next) => {
              setMethod(next)
              setGiven(keptFor(reference.get(next) ?? [], given))
              sending.reset()
            }}
          />
          <Parameters
            key={method}
            parameters={parameters}
            given={given}
            chats={chats}
            change={(name, value) => setGiven({ ...given, [name]: value })}
          />
          <Wrong cause={sending.error} />
          <div className="actions">
            <CopyButton text={curlOf(method, JSON.stringify(body))} label={t('requests.curl')} />
            <Button
              type="submit"
              kind="first"
              icon="send"
              busy={sending.isPending}
              disabled={isWrong}
            >
              {t('try.send')}
            </Button>
          </div>
        </Form>
      </Card>
      <Card title={t('exchange.response')}>
        <div aria-live="polite">
          {sending.data ? (
            <Answered keyId={keyId} answer={sending.data} />
          ) : (
            <p className="quiet">{t('try.none')}</p>
          )}
        </div>
      </Card>
    </div>
  )
}

interface KeyFieldProps {
  readonly keyId: number
  readonly value: string
  onChange(key: string): void
}

function KeyField({ keyId, value, onChange }: KeyFieldProps) {
  const t = useT()
  const isOther = value.trim() !== '' && !value.trim().startsWith(`${keyId}:`)
  // A key that was just made stands nowhere else.
  const isHeld = value !== '' && value === heldKey(keyId)
  return (
    <>
      <Field
        label={t('try.key')}
        hint={t(isHeld ? 'try.key.held' : 'try.key.hint')}
        wrong={isOther ? t('try.key.other') : undefined}
        type="password"
        className="ltr"
        required
        autoComplete="off"
        maxLength={200}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {isHeld && (
        <div>
          <CopyButton text={value} label={t('try.key.copy')} />
        </div>
      )}
    </>
  )
}

interface Listed {
  readonly ok: boolean
  readonly result?: { readonly chats: readonly { readonly chat: Chat }[] }
}

/** The chats to choose from, once the key is complete; none where the network cannot list them. */
function useChats(keyId: number, key: string): readonly Chat[] {
  const whole = key.trim()
  const chats = useQuery({
    // The name must not hold the key: names of queries are shown by tools. Its last letters are no secret.
    queryKey: ['try', 'chats', keyId, whole.slice(-4)],
    queryFn: async () => {
      const { body } = await ask(whole, 'getChats', { limit: 100 })
      const { ok, result } = JSON.parse(body) as Listed
      return ok && result ? result.chats.map(({ chat }) => chat) : []
    },
    enabled: new RegExp(`^${keyId}:[\\w-]{43}$`).test(whole),
    retry: false,
  })
  return chats.data ?? []
}

interface ParametersProps {
  readonly parameters: readonly ReferenceParameter[]
  readonly given: Given
  readonly chats: readonly Chat[]
  change(name: string, value: string): void
}

/** What a method needs stands open; the rest is behind a line that says how much there is. */
function Parameters({ parameters, given, chats, change }: ParametersProps) {
  const t = useT()
  const field = (one: ReferenceParameter) => (
    <Parameter
      key={one.name}
      parameter={one}
      value={given[one.name] ?? ''}
      chats={chats}
      onChange={(value) => change(one.name, value)}
    />
  )
  const optional = parameters.filter(({ required }) => !required)
  const isWrong = optional.some((one) => sentValue(one, given[one.name] ?? '') === null)
  return (
    <>
      {parameters.filter(({ required }) => required).map(field)}
      {optional.length > 0 && (
        // A wrong value, which keeps the call from being sent, is never hidden.
        <details
          onToggle={({ currentTarget }) => {
            if (isWrong) currentTarget.open = true
          }}
        >
          <summary className="small">{t.count('try.optional', optional.length)}</summary>
          <div className="stack">{optional.map(field)}</div>
        </details>
      )}
    </>
  )
}

function Answered({ keyId, answer }: { readonly keyId: number; readonly answer: Answer }) {
  const t = useT()
  const { status, body, requestId } = answer
  return (
    <div className="stack tight">
      <Badge tone={status < 400 ? 'good' : 'bad'}>{`${status}`}</Badge>
      <Text title={t('try.body')} body={body} isCut={false} />
      {requestId && (
        <Link
          className="small"
          to={`/dashboard/keys/${keyId}?tab=requests&request_id=${requestId}`}
        >
          {t('try.inLog')}
        </Link>
      )}
    </div>
  )
}
