/** How a vector of parameters is cut for a ring: a chunk a member, and each chunk into pieces that travel on their own. */

/** Elements [offset, offset + length) of a vector. */
export interface Chunk {
  readonly offset: number
  readonly length: number
}

/**
 * Cut a parameter vector into one chunk per ring member, as even as whole elements allow.
 *
 * The first `length % members` chunks hold one element more, so sizes differ by at most one and every member
 * sends about 2(C−1)/C of the vector per round, the least an all-reduce can.
 *
 * @param length - elements in the flat parameter vector (not bytes)
 * @param members - ring size C, at least 1
 * @returns C chunks in ring order; they tile [0, length) without gap or overlap; empty ones where length < C
 * @see Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"
 */
export function cutIntoChunks(length: number, members: number): Chunk[] {
  return Array.from({ length: members }, (_, index) => chunkAt(length, members, index))
}

/** One of them. */
export function chunkAt(length: number, members: number, index: number): Chunk {
  const least = Math.floor(length / members)
  const longer = length % members
  return { offset: index * least + Math.min(index, longer), length: least + (index < longer ? 1 : 0) }
}

/**
 * 256 KiB of float32: some hundred microseconds of work, so neither the event loop nor an activation waits long behind
 * one, and large enough that a message's header weighs nothing.
 */
const mostPieceElements = 65_536
/** 16 KiB: less is mostly header, and no line is so slow that more would keep the next member waiting. */
const leastPieceElements = 4096
/** Pieces of the longest chunk, at the least: a member has something to send on after a part of a step so large. */
const piecesOfChunk = 8

/** Elements of a piece, where a vector of so many elements is averaged by so many members: the same on all of them. */
export function usualPieceElements(length: number, members: number): number {
  const part = Math.ceil(length / members / piecesOfChunk)
  return Math.min(mostPieceElements, Math.max(leastPieceElements, part))
}

/** Pieces of a chunk in order, all of one length but the last; one empty piece of an empty chunk. Offsets in the vector. */
export function cutIntoPieces({ offset, length }: Chunk, pieceElements: number): Chunk[] {
  const pieces = Math.max(1, Math.ceil(length / pieceElements))
  return Array.from({ length: pieces }, (_, index) => ({
    offset: offset + index * pieceElements,
    length: Math.min(pieceElements, length - index * pieceElements),
  }))
}
