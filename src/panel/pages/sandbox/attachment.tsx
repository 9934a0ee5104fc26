/** A file in a message: a picture is shown, anything else can be saved. */

import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiFailure } from '../../api/failure.ts'
import { stickerSetsQuery } from '../../api/sandbox.ts'
import type { Media, StickerSet } from '../../api/sandbox-types.ts'
import { accessToken } from '../../api/session.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

/** A file of the service, which wants the access token that an image's address cannot carry. */
async function bytesOf(path: string, type: string, signal: AbortSignal): Promise<Blob> {
  const authorization = `Bearer ${await accessToken()}`
  const response = await fetch(path, { headers: { authorization }, signal, credentials: 'omit' })
  if (!response.ok) throw new ApiFailure(response.status, response.statusText)
  return new Blob([await response.arrayBuffer()], { type })
}

export const isPicture = ({ type, mime_type = '' }: Media) =>
  type === 'photo' || (type === 'sticker' && !/video|json/.test(mime_type))

export function Attachment({ media }: { readonly media: Media }) {
  return isPicture(media) ? <Picture media={media} /> : <Other media={media} />
}

export function Picture({ media }: { readonly media: Media }) {
  const t = useT()
  const { data, isError } = useQuery({
    queryKey: ['sandbox', 'file', media.file],
    queryFn: ({ signal }) => bytesOf(media.url, media.mime_type ?? 'image/jpeg', signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (!data) return
    const made = URL.createObjectURL(data)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  const { width = 320, height = 240 } = media
  if (isError) return <span className="quiet small">{t('messenger.fileGone')}</span>
  return (
    <img
      className="picture"
      src={address}
      alt={media.emoji ?? media.file_name ?? t('messenger.photo')}
      width={width}
      height={height}
    />
  )
}

interface CustomEmojiProps {
  readonly id: string | undefined
  /** Shown where the emoji is not known: the ordinary one that it stands for. */
  readonly children: ReactNode
}

export function CustomEmoji({ id, children }: CustomEmojiProps) {
  const stickerIn = (sets: readonly StickerSet[] = []) =>
    sets
      .flatMap(({ stickers }) => stickers)
      .find(({ custom_emoji_id }) => custom_emoji_id !== undefined && custom_emoji_id === id)
  const { data } = useQuery({
    ...stickerSetsQuery,
    // A set may be newer than what was read.
    refetchOnMount: ({ state }) => (stickerIn(state.data) ? false : 'always'),
  })
  const sticker = stickerIn(data)
  if (!sticker || !isPicture(sticker)) return children
  return (
    <span className="custom-emoji">
      <Picture media={sticker} />
    </span>
  )
}

function Other({ media }: { readonly media: Media }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const { bytes } = useFormats()
  const name = media.file_name ?? t.word('messenger.kind', media.type)
  const save = async () => {
    try {
      const type = 'application/octet-stream'
      const blob = await bytesOf(media.url, type, AbortSignal.timeout(60_000))
      const address = URL.createObjectURL(blob)
      Object.assign(document.createElement('a'), { href: address, download: name }).click()
      URL.revokeObjectURL(address)
    } catch (cause) {
      toast(reason(cause), 'bad')
    }
  }
  return (
    <Button size="slim" icon="copy" onClick={save}>
      <span className="clip">{name}</span>
      {media.file_size !== undefined && (
        <span className="quiet tiny">{bytes(media.file_size)}</span>
      )}
    </Button>
  )
}
