-- The image of PostgreSQL runs this once, as its administrator: it makes the book's role, which has no rights besides its own database.
\getenv password BOOK_PASSWORD
CREATE ROLE memoranda LOGIN PASSWORD :'password';
GRANT pg_checkpoint TO memoranda;
CREATE DATABASE memoranda OWNER memoranda;
\connect memoranda
CREATE EXTENSION vector;
