/** The channels of alerts: a webhook, a chat, e-mail; each can be tested. */
import {
  keepPreviousData,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { foundKeysQuery, keyQuery, userQuery } from '../../api/queries.ts'
import type { AlertSettings, Notification } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading, Notice, useFieldReason, useReason, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

const PATH = '/alerts/settings'
const settingsQuery = queryOptions({
  queryKey: ['alert-settings'],
  queryFn: ({ signal }) => call<AlertSettings>('GET', PATH, { signal }),
  // A form is filled in below: it must not change under the hands of its writer.
  refetchOnWindowFocus: false,
})

export function AlertSettingsCards() {
  const t = useT()
  const settings = useQuery(settingsQuery)
  const { data } = settings
  if (settings.isError && !data) {
    return <Failed cause={settings.error} retry={() => settings.refetch()} />
  }
  return (
    <div className="columns">
      <Card title={t('alerts.settings')} aside={<Hint about="minutes" />}>
        {data ? <SettingsForm settings={data} /> : <Loading lines={5} />}
      </Card>
      <div className="stack">
        {data && <Tests settings={data} />}
        {data?.webhook && <Secret webhook={data.webhook} />}
      </div>
    </div>
  )
}

/** The form as it stands, as what the service takes: empty fields are switched off. */
function useForm({ minutes, backlog_minutes, webhook, chat, email, ...settings }: AlertSettings) {
  const [form, setForm] = useState({
    minutes: `${minutes}`,
    backlog: `${backlog_minutes}`,
    url: webhook?.url ?? '',
    key: chat ? `${chat.api_key_id}` : '',
    chat: chat?.chat_id ?? '',
    email: email ?? '',
    version: settings.version,
  })
  const url = form.url.trim()
  const body = {
    minutes: Number(form.minutes),
    backlog_minutes: Number(form.backlog),
    ...(url !== '' && { webhook: { url } }),
    ...(form.key !== '' && { chat: { api_key_id: Number(form.key), chat_id: form.chat.trim() } }),
    ...(form.email.trim() !== '' && { email: form.email.trim() }),
    // Of what the form was filled with, whatever was read since.
    version: form.version,
  }
  const set = (name: keyof typeof form) => (value: string) =>
    setForm((before) => ({ ...before, [name]: value }))
  return { form, set, body }
}

/** Only those who run the service can make it send mail. */
function useEmailHint({ email_available: isAvailable }: AlertSettings) {
  const t = useT()
  const isOperator = useQuery(userQuery).data?.operator === true
  if (isAvailable) return t('alerts.email.hint')
  return t(isOperator ? 'alerts.email.setup' : 'alerts.email.off')
}

function SettingsForm({ settings }: { readonly settings: AlertSettings }) {
  const t = useT()
  const toast = useToast()
  const fieldReason = useFieldReason()
  const queries = useQueryClient()
  const { form, set, body } = useForm(settings)
  const saving = useMutation({
    mutationFn: () => call<AlertSettings>('PUT', PATH, { body }),
    onSuccess(next) {
      queries.setQueryData(settingsQuery.queryKey, next)
      set('version')(next.version)
      toast(t('alerts.saved'))
    },
  })
  const emailHint = useEmailHint(settings)
  const wrongEmail = fieldReason(saving.error, 'email')
  return (
    <Form by={saving}>
      <MinutesFields form={form} set={set} />
      <Field
        label={t('alerts.webhook')}
        hint={t('alerts.webhook.hint')}
        className="ltr"
        placeholder="https://alerts.example.org/chapar"
        value={form.url}
        onChange={(event) => set('url')(event.target.value)}
      />
      <ChatFields form={form} set={set} />
      <Field
        label={t('alerts.email')}
        hint={emailHint}
        wrong={wrongEmail}
        type="email"
        className="ltr"
        autoComplete="email"
        maxLength={254}
        disabled={!settings.email_available && form.email === ''}
        value={form.email}
        onChange={(event) => set('email')(event.target.value)}
      />
      {!wrongEmail && <Wrong cause={saving.error} />}
      <div className="actions">
        <Button type="submit" kind="first" busy={saving.isPending}>
          {t('alerts.save')}
        </Button>
      </div>
    </Form>
  )
}

/** The newest keys that may send, as many as a choice has room for, and the chosen one. */
function useSendingKeys(chosen: string) {
  const [search, setSearch] = useState('')
  const found = useQuery({ ...foundKeysQuery(search, 100), placeholderData: keepPreviousData })
  const sending = (found.data?.items ?? []).filter(({ scopes }) => scopes.includes('bot:send'))
  const isAmong = sending.some(({ api_key_id }) => `${api_key_id}` === chosen)
  const own = useQuery({
    ...keyQuery(Number(chosen)),
    enabled: chosen !== '' && found.data !== undefined && !isAmong,
  })
  const isShown = own.data && !isAmong && own.data.revoked_at === null
  return {
    search,
    setSearch,
    keys: isShown ? [own.data, ...sending] : sending,
    isLong: search !== '' || (found.data?.next_before ?? null) !== null,
  }
}

/** How long something may be wrong before it counts. */
function MinutesFields({ form, set }: Pick<ReturnType<typeof useForm>, 'form' | 'set'>) {
  const t = useT()
  return (
    <>
      <Field
        label={t('alerts.minutes')}
        hint={t('alerts.minutes.hint')}
        type="number"
        min={1}
        max={1_440}
        required
        value={form.minutes}
        onChange={(event) => set('minutes')(event.target.value)}
      />
      <Field
        label={t('alerts.backlog')}
        hint={t('alerts.backlog.hint')}
        type="number"
        min={1}
        max={1_440}
        required
        value={form.backlog}
        onChange={(event) => set('backlog')(event.target.value)}
      />
    </>
  )
}

function ChatFields({ form, set }: Pick<ReturnType<typeof useForm>, 'form' | 'set'>) {
  const t = useT()
  const { keys, isLong, search, setSearch } = useSendingKeys(form.key)
  return (
    <>
      {isLong && (
        <Field
          label={t('alerts.key.search')}
          type="search"
          autoComplete="off"
          maxLength={100}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      <Choice
        label={t('alerts.key')}
        value={form.key}
        options={[
          ['', t('alerts.key.none')],
          ...keys.map(({ api_key_id, name }) => [`${api_key_id}`, name] as const),
        ]}
        onChange={set('key')}
      />
      {form.key !== '' && (
        <Field
          label={t('alerts.chat')}
          hint={t('alerts.chat.hint')}
          className="ltr"
          required
          maxLength={128}
          value={form.chat}
          onChange={(event) => set('chat')(event.target.value)}
        />
      )}
    </>
  )
}

const channels = ['webhook', 'chat', 'email'] as const

function Tests({ settings }: { readonly settings: AlertSettings }) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const testing = useMutation({
    mutationFn: (channel: (typeof channels)[number]) =>
      call<Notification>('POST', `${PATH}/test`, { body: { channel } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['notifications'] }),
  })
  const { data, error } = testing
  const ways = channels.filter((channel) => settings[channel] !== null)
  return (
    <Card title={t('alerts.tests')}>
      <p className="quiet small">
        {t(ways.length > 0 ? 'alerts.tests.text' : 'alerts.tests.none')}
      </p>
      <div className="row">
        {ways.map((channel) => (
          <Button
            key={channel}
            icon="bolt"
            busy={testing.isPending && testing.variables === channel}
            disabled={testing.isPending && testing.variables !== channel}
            onClick={() => testing.mutate(channel)}
          >
            {t(`alerts.test.${channel}`)}
          </Button>
        ))}
      </div>
      <div aria-live="polite">
        {error && <p className="wrong">{reason(error)}</p>}
        {data && (
          <Notice tone={data.state === 'sent' ? 'good' : data.state === 'lost' ? 'bad' : 'busy'}>
            <p className="label">{t(`alerts.test.${data.state}`)}</p>
            {data.code && <p className="small">{t.word('alertLoss', data.code)}</p>}
            {data.detail && <p className="quiet small ltr">{data.detail}</p>}
          </Notice>
        )}
      </div>
    </Card>
  )
}

function Secret({ webhook }: { readonly webhook: NonNullable<AlertSettings['webhook']> }) {
  const t = useT()
  const { moment } = useFormats()
  const queries = useQueryClient()
  const [isShown, setShown] = useState(false)
  const renewing = useMutation({
    mutationFn: () => call<AlertSettings>('POST', `${PATH}/secret`),
    onSuccess: (next) => queries.setQueryData(settingsQuery.queryKey, next),
  })
  return (
    <Card title={t('alerts.secret')}>
      <p className="quiet small">{t('webhook.secret.text')}</p>
      {isShown && <Copied text={webhook.secret} wrap />}
      {webhook.previous_until && (
        <p className="quiet small">
          {t('webhook.secret.previous', { moment: moment(webhook.previous_until) })}
        </p>
      )}
      <Wrong cause={renewing.error} />
      <div className="row">
        {isShown ? (
          <Button icon="restart" busy={renewing.isPending} onClick={() => renewing.mutate()}>
            {t('webhook.secret.renew')}
          </Button>
        ) : (
          <Button onClick={() => setShown(true)}>{t('alerts.secret.show')}</Button>
        )}
      </div>
    </Card>
  )
}
