/** A web app of a bot, in a frame that cannot reach the panel. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef } from 'react'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading, useReason, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { useActing } from './acting.ts'
import { setDraft } from './drafts.ts'
import { Outside } from './rich-text.tsx'

interface WebAppDialogProps {
  readonly bot: { readonly id: number; readonly username?: string | null }
  readonly chat: number
  readonly url: string
  /** Sends what the app gives back. Only an app that was opened by a key of a keyboard may. */
  send?(data: string): Promise<unknown>
  onClose(): void
}

export function WebAppDialog({ bot, chat, url, send, onClose }: WebAppDialogProps) {
  const t = useT()
  const id = useId()
  const reason = useReason()
  const toast = useToast()
  const { api, person } = useActing()
  const frame = useRef<HTMLIFrameElement>(null)
  const opening = useQuery({
    queryKey: ['sandbox', 'web app', id, url],
    queryFn: () => api.openWebApp({ bot: bot.id, chat, url }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const hear = (said: unknown) => {
    const { eventType, eventData } = eventOf(said)
    if (eventType === 'web_app_close') onClose()
    if (eventType === 'web_app_data_send' && send) {
      send(`${eventData.data ?? ''}`).then(onClose, (cause) => toast(reason(cause), 'bad'))
    }
    if (eventType === 'web_app_switch_inline_query' && bot.username) {
      setDraft(person.id, chat, `@${bot.username} ${eventData.query ?? ''}`)
      onClose()
    }
  }
  useMessagesOf(frame, hear)
  return (
    <Dialog title={t('webApp.title')} open wide onClose={onClose}>
      {opening.data ? (
        <iframe
          ref={frame}
          className="web-app"
          title={t('webApp.title')}
          src={opening.data.url}
          sandbox={permissionsOf(url)}
        />
      ) : (
        !opening.isError && <Loading lines={4} />
      )}
      <Wrong cause={opening.error} />
      <div className="actions">
        {opening.data && (
          <Outside address={opening.data.url} className="button">
            {t('webApp.outside')}
          </Outside>
        )}
        <Button kind="first" onClick={onClose}>
          {t('close')}
        </Button>
      </div>
    </Dialog>
  )
}

/** With an origin of its own an app can store things. One of the panel's origin would reach the panel. */
const permissionsOf = (url: string): string =>
  ['allow-scripts', 'allow-forms', 'allow-modals', 'allow-popups']
    .concat(new URL(url).origin === location.origin ? [] : 'allow-same-origin')
    .join(' ')

function useMessagesOf(
  frame: { readonly current: HTMLIFrameElement | null },
  hear: (said: unknown) => void,
): void {
  const latest = useRef(hear)
  latest.current = hear
  useEffect(() => {
    const receive = (event: MessageEvent) => {
      if (frame.current && event.source === frame.current.contentWindow) latest.current(event.data)
    }
    window.addEventListener('message', receive)
    return () => window.removeEventListener('message', receive)
  }, [frame])
}

interface AppEvent {
  readonly eventType?: unknown
  readonly eventData: Readonly<Record<string, unknown>>
}

/** Apps speak to clients in JSON. Anything else that a page says is not meant for us. */
function eventOf(said: unknown): AppEvent {
  const nothing = { eventData: {} }
  if (typeof said !== 'string') return nothing
  try {
    const { eventType, eventData } = { ...JSON.parse(said) }
    return { eventType, eventData: { ...eventData } }
  } catch {
    return nothing
  }
}
