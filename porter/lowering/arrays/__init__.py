"""Operations on arrays as arithmetic on their indices."""
