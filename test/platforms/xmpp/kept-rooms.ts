/** The rooms of accounts, kept for as long as a test runs. */
import type { KeptRoom, RoomOwner, RoomStore } from '../../../src/platforms/xmpp/rooms/kept.ts'

export class MemoryRooms implements RoomStore {
  readonly #rooms = new Map<number, Map<string, KeptRoom>>()

  async load({ credentialId }: RoomOwner): Promise<readonly KeptRoom[]> {
    return [...this.#of(credentialId).values()]
  }

  async keep({ credentialId }: RoomOwner, room: KeptRoom): Promise<void> {
    this.#of(credentialId).set(room.room, room)
  }

  async forget({ credentialId }: RoomOwner, room: string): Promise<void> {
    this.#of(credentialId).delete(room)
  }

  #of(credentialId: number): Map<string, KeptRoom> {
    const known = this.#rooms.get(credentialId) ?? new Map<string, KeptRoom>()
    this.#rooms.set(credentialId, known)
    return known
  }
}
